"""What a peer sees of each MUST and SHOULD: tests whose peer is written from the draft alone, or why it sees nothing.

The tests call the product as it is served: `accp serve`, `accp mcp`, an agent of A2A, or `connect` as a client.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["SEEN_BY_PEERS", "UNSEEN"]

CHECKPOINT: Final = "foreign/test_checkpoints.py::test_a_checkpoint_is_taken_and_its_facts_have_keys"
LONG: Final = "foreign/test_long_messages.py"
DEMAND: Final = "foreign/test_musts.py::test_a_demand_of_the_draft_holds"
RELAY: Final = "foreign/test_acp.py::test_a_guest_of_the_relay_joins_sends_and_polls_with_the_same_token"


def _demands(*sections: str) -> tuple[str, ...]:
    return tuple(f"{DEMAND}[{section}-*" for section in sections)


SEEN_BY_PEERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(("3.1.1-1", "3.1.1-2", "3.3-1", "3.3-3", "3.3-6"), _demands("3.1.1")),
        **dict.fromkeys(("3.3-2", "8.1-3"), _demands("3.3")),
        **dict.fromkeys(("3.3-5", "8.2-3"), _demands("6.3")),
        **dict.fromkeys(("3.5-1", "3.5-2", "3.5-4", "3.5-5", "3.5-7"), _demands("3.5")),
        **dict.fromkeys(("3.5-9", "3.7-7"), _demands("3.5, ttl")),
        "3.5-10": _demands("3.5, missing"),
        **dict.fromkeys(("3.7-1", "3.7-2"), _demands("3.7, item 1")),
        **dict.fromkeys(("3.7-3", "3.7-4"), _demands("3.7, item 2")),
        "3.7-6": _demands("3.7, item 4"),
        "5.2-1": (f"{CHECKPOINT}[done]",),
        "5.2-3": (f"{CHECKPOINT}[esc]",),
        "5.2-5": (f"{CHECKPOINT}[comp]",),
        **dict.fromkeys(("8.2-1", "8.2-2"), _demands("5.2")),
        "8.1-1": _demands("3.1.1", "9, item 2"),
        **dict.fromkeys(("8.1-2", "9-2", "9-3", "9-6"), _demands("9, item 2")),
        "8.3-1": _demands("5.4"),
        "8.3-2": _demands("6.4"),
        "8.3-3": (f"{LONG}::test_a_long_answer_is_read_over_http",),
        **dict.fromkeys(("8.3-4", "10.4-1", "10.4-2"), _demands("10.4")),
        "9-4": _demands("9, item 3"),
        "9-5": _demands("9, item 4"),
        "9-7": _demands("9, item 5"),
        **dict.fromkeys(("10.2-1", "10.2-2"), _demands("10.2")),
        **dict.fromkeys(("10.3-1", "10.3-2", "10.3-4"), _demands("10.3")),
        "10.4-3": _demands("10.4, order"),
        "acp:3.6-2": (RELAY,),
    }
)
"""Requirement to tests, as in `shown_by.py`; what stands there already is not repeated."""

_INTERFACE: Final = "a call of an interface for programs; its effects on a wire are those of sections 3 to 6"

UNSEEN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "3.3-4": "only peers that share a store get references for long values, and a stranger shares none",
        "5.2-4": "the boundary is a call of the program's own session",
        "5.4-1": "a context is told where a program calls `Session.share`; what is served does not",
        **dict.fromkeys(("7.1-1", "7.1-2", "7.1-3", "7.1-4", "7.1-5"), _INTERFACE),
        "9-1": "the log is the operator's own",
        "10.3-3": "the currency is whoever's the amount is",
    }
)
"""Requirement to the reason why no peer can see whether it holds."""
