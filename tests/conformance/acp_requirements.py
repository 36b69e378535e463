"""What ACP transport 0.3 asks of everyone who speaks it, as data; its bindings A to E need sockets and are not here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.requirement import Family, Force, rules

__all__ = ["FAMILY"]

HANDSHAKE: Final = "core/acp/test_handshake.py"
FRAMING: Final = "core/acp/test_framing.py"
VECTORS: Final = "core/acp/test_vectors.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "acp:1-1": (
            f"{HANDSHAKE}::test_a_card_is_flat_says_what_is_on_and_is_read_wrapped_as_well",
            f"{HANDSHAKE}::test_each_side_learns_who_the_other_is",
        ),
        "acp:1-2": (
            f"{VECTORS}::test_an_envelope_is_read_and_written_canonically",
            "core/acp/test_envelope.py::test_an_envelope_comes_back_from_its_text",
        ),
        "acp:3.6-1": (f"{HANDSHAKE}::test_a_guest_needs_the_token_in_its_path_or_header",),
        "acp:4.2-1": (
            f"{FRAMING}::test_lines_come_back_however_the_stream_is_cut",
            f"{FRAMING}::test_only_a_line_feed_ends_a_line",
        ),
        "acp:5.1-1": ("core/acp/test_link.py::test_a_relay_has_the_same_token",),
        "acp:5.1-2": (
            f"{HANDSHAKE}::test_a_guest_tries_three_times_and_then_a_relay",
            "core/acp/test_attempts.py::test_three_failures_lead_to_the_relay_with_the_same_token",
        ),
        "acp:8-1": (f"{VECTORS}::test_an_envelope_is_read_and_written_canonically",),
    }
)

_rule = rules(SHOWN_BY, "acp:")
_must, _may, _states = (_rule[force] for force in (Force.MUST, Force.MAY, Force.STATES))

REQUIREMENTS: Final = (
    _states("1-1", 0, "An ACP implementation announces which bindings it supports in its AgentCard."),
    _must(
        "1-2",
        0,
        "A receiver that does not recognize an extension field MUST ignore it (forward-compatible).",
    ),
    _may(
        "3.6-1",
        0,
        "the connecting agent MAY include transport-level HTTP headers.",
        "Only X-ACP-Token has a meaning; the other headers are lost at a change of the binding and are not used.",
    ),
    _states("4.2-1", 0, "One JSON object per line (newline-delimited JSON / NDJSON)"),
    _states("5.1-1", 0, "The P2P token (acp://) and the relay token (acp+wss://) are the same value."),
    _states("5.1-2", 0, "The reference relay (acp_relay.py) auto-falls back to Binding C after 3 failed P2P attempts."),
    _must("8-1", 0, "Receiver MUST ignore unknown extension fields (forward compatibility)."),
)

FAMILY: Final = Family(
    name="ACP",
    titles={0: "ACP transport 0.3"},
    sections=frozenset({"1", "3.6", "4.2", "5.1", "8"}),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
