"""What a model is sent of a conversation that a program keeps as JSON or LangChain messages: one pure function."""

from accp_adapters.messages.projection import Layout, Projection, project_messages

__all__ = ["Layout", "Projection", "project_messages"]
