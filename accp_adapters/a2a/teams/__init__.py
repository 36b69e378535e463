"""AgentContexts over A2A: an agent somewhere else, and an agent behind A2A (ACI sections 2.1 and 5.3)."""
