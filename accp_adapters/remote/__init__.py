"""Agents that take contexts on another machine: what is the same over every wire."""

from accp_adapters.remote.granted_references import AskedReference, GrantedReferences
from accp_adapters.remote.graphs import run_graph
from accp_adapters.remote.reference_request import DEFAULT_TOKENS, PeerAnswer, ReferenceRequest, answer_request
from accp_adapters.remote.remote_agent import RemoteAgent, Wire
from accp_adapters.remote.replies import MAX_OPENED, AgentResult, accept, check_agent, with_stored_results
from accp_adapters.remote.shared_texts import FetchText, SharedTexts
from accp_adapters.remote.stored_results import AgentResults

__all__ = [
    "DEFAULT_TOKENS",
    "MAX_OPENED",
    "AgentResult",
    "AgentResults",
    "AskedReference",
    "FetchText",
    "GrantedReferences",
    "PeerAnswer",
    "ReferenceRequest",
    "RemoteAgent",
    "SharedTexts",
    "Wire",
    "accept",
    "answer_request",
    "check_agent",
    "run_graph",
    "with_stored_results",
]
