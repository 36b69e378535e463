"""LangGraph and LangChain: one middleware for `create_agent`, one node and one tool for hand-built graphs."""

from accp_adapters.extras import needs

with needs("langgraph"):
    from accp_adapters.langgraph.channel import CompressedMessages
    from accp_adapters.langgraph.fetch import fetch_tool
    from accp_adapters.langgraph.middleware import AccpMiddleware
    from accp_adapters.langgraph.node import CompressNode, restore_message
    from accp_adapters.langgraph.stores import StoreColdStore
    from accp_adapters.langgraph.teams.handoff import handoff_tool
    from accp_adapters.langgraph.teams.isolate import isolate
    from accp_adapters.langgraph.teams.master import MasterState, master_graph
    from accp_adapters.langgraph.teams.planner import PLAN_SCHEMA, ModelPlanner, ModelVerifier
    from accp_adapters.langgraph.teams.state import AciState, begin, read_interaction, read_results
from accp_adapters.policy import Policy
from accp_core.aci import AgentReply, step
from accp_core.projection import resolve

__all__ = [
    "PLAN_SCHEMA",
    "AccpMiddleware",
    "AciState",
    "AgentReply",
    "CompressNode",
    "CompressedMessages",
    "MasterState",
    "ModelPlanner",
    "ModelVerifier",
    "Policy",
    "StoreColdStore",
    "begin",
    "fetch_tool",
    "handoff_tool",
    "isolate",
    "master_graph",
    "read_interaction",
    "read_results",
    "resolve",
    "restore_message",
    "step",
]
