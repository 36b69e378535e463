"""One protocol carried by another; the only modules that know two families."""
