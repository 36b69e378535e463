"""Agents that take contexts on another machine: what is the same over every wire."""

from accp_adapters.remote.agent import RemoteAgent, Wire
from accp_adapters.remote.granted_references import GrantedReferences, OpenRequest
from accp_adapters.remote.graphs import run_graph
from accp_adapters.remote.reference_request import DEFAULT_TOKENS, PeerAnswer, ReferenceRequest, answer_request
from accp_adapters.remote.replies import MAX_REFERENCES, AgentResult, accept, check_agent, with_stored_results
from accp_adapters.remote.shared_texts import FetchText, SharedTexts
from accp_adapters.remote.stored_results import StoredResults

__all__ = [
    "DEFAULT_TOKENS",
    "MAX_REFERENCES",
    "AgentResult",
    "FetchText",
    "GrantedReferences",
    "OpenRequest",
    "PeerAnswer",
    "ReferenceRequest",
    "RemoteAgent",
    "SharedTexts",
    "StoredResults",
    "Wire",
    "accept",
    "answer_request",
    "check_agent",
    "run_graph",
    "with_stored_results",
]
