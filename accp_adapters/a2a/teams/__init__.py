"""AgentContexts over A2A: the agent that takes them, and the master's function that calls it (ACI 2.1 and 5.3)."""
