"""Several agents in one graph: isolated contexts, handoffs, a master and its evaluation (ACI sections 4 and 5)."""
