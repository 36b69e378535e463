"""LangGraph and LangChain: one middleware for `create_agent`, one node and one tool for hand-built graphs."""

from accp_adapters.langgraph.channel import CompressedMessages
from accp_adapters.langgraph.contexts import AciState, begin, read_results
from accp_adapters.langgraph.evaluate import EvaluateNode
from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.langgraph.handoff import handoff_tool
from accp_adapters.langgraph.isolate import isolate
from accp_adapters.langgraph.master import master_graph
from accp_adapters.langgraph.middleware import AccpMiddleware
from accp_adapters.langgraph.node import CompressNode
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.subagents import Reply
from accp_adapters.langgraph.tiers import StoreColdStore
from accp_adapters.langgraph.verify import ModelVerifier
from accp_adapters.langgraph.warm import warm_summary

__all__ = [
    "AccpMiddleware",
    "AciState",
    "CompressNode",
    "CompressedMessages",
    "EvaluateNode",
    "ModelVerifier",
    "Policy",
    "Reply",
    "StoreColdStore",
    "begin",
    "fetch_tool",
    "handoff_tool",
    "isolate",
    "master_graph",
    "read_results",
    "warm_summary",
]
