"""Agents that take contexts, over ACCP: `AccpWire` reaches one, `serve_contexts` is the handler of one."""

from accp_adapters.bindings.agents.accp_wire import AccpWire
from accp_adapters.bindings.agents.serve_contexts import serve_contexts
from accp_adapters.remote import GrantedReferences, RemoteAgent

__all__ = ["AccpWire", "GrantedReferences", "RemoteAgent", "serve_contexts"]
