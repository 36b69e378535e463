"""The numbers that decide what a model sees of a conversation, the same in every framework."""

from accp_adapters.policy.policy import Policy, names_in
from accp_adapters.policy.sizes import ContextSize, Size, read_size
from accp_adapters.policy.switch import SWITCH, is_disabled
from accp_adapters.policy.tool_words import read_tool_words

__all__ = [
    "SWITCH",
    "ContextSize",
    "Policy",
    "Size",
    "is_disabled",
    "names_in",
    "read_size",
    "read_tool_words",
]
