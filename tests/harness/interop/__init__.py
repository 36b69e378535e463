"""Programs that run foreign implementations against ours; each is told where a checkout is."""
