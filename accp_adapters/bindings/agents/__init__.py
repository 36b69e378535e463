"""Agents that take contexts, over ACCP: `RemoteAgent` asks one, `serve_contexts` is the handler of one."""

from accp_adapters.bindings.agents.remote_agent import RemoteAgent
from accp_adapters.bindings.agents.serve_contexts import serve_contexts
from accp_adapters.remote import GrantedReferences

__all__ = ["GrantedReferences", "RemoteAgent", "serve_contexts"]
