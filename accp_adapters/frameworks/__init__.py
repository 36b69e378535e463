"""The projection in frameworks that have a place for it, one module each; each imports its own framework only."""
