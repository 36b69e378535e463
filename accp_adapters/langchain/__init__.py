"""LangChain messages as the core's records, without LangGraph: what its adapter and `project_messages` stand on."""
