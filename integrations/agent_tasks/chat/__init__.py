"""Chat models that play agents, and the same as plain functions for agents of other frameworks than LangGraph."""
