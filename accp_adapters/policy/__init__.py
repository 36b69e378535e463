"""The numbers that decide what a model sees of a conversation, the same in every framework."""

from accp_adapters.policy.policy import Policy, names_in
from accp_adapters.policy.switch import SWITCH, is_disabled
from accp_adapters.policy.tool_words import read_tool_words

__all__ = [
    "SWITCH",
    "Policy",
    "is_disabled",
    "names_in",
    "read_tool_words",
]
