"""One protocol carried by another: the only modules of the core that import two families."""
