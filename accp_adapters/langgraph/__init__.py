"""LangGraph and LangChain: one middleware for `create_agent`, one node and one tool for hand-built graphs."""

from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.langgraph.handoff import handoff_tool
from accp_adapters.langgraph.middleware import AccpMiddleware
from accp_adapters.langgraph.node import CompressNode
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.tiers import StoreColdStore
from accp_adapters.langgraph.warm import warm_summary

__all__ = ["AccpMiddleware", "CompressNode", "Policy", "StoreColdStore", "fetch_tool", "handoff_tool", "warm_summary"]
