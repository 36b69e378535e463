"""What ACP transport 0.3 asks of everyone who speaks it, as data: the envelope, and its bindings A to E."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.requirement import Family, Force, rules

__all__ = ["FAMILY"]

HANDSHAKE: Final = "core/acp/test_handshake.py"
FRAMING: Final = "core/acp/test_framing.py"
VECTORS: Final = "core/acp/test_vectors.py"
BINDINGS: Final = "adapters/bindings/acp/test_bindings.py"
SECURITY: Final = "adapters/bindings/acp/test_security.py"
STDIO: Final = "adapters/bindings/acp/test_stdio.py"
ABORTS: Final = "adapters/bindings/acp/test_aborts.py::test_each_message_arrives_once_and_in_order_both_ways"
COMMAND: Final = "adapters/cli/test_serve_agent.py"

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
        "acp:3.3-1": (f"{SECURITY}::test_a_wrong_token_gets_an_error_frame_and_4401",),
        "acp:3.3-2": (f"{BINDINGS}::test_a_guest_falls_back_to_the_relay_and_keeps_its_session",),
        "acp:3.4-1": (
            f"{ABORTS}[A]",
            f"{SECURITY}::test_a_frame_that_is_too_large_or_no_text_ends_a_connection",
        ),
        "acp:3.6-1": (f"{SECURITY}::test_a_wrong_token_gets_an_error_frame_and_4401",),
        "acp:4.2-1": (
            f"{FRAMING}::test_lines_come_back_however_the_stream_is_cut",
            f"{FRAMING}::test_only_a_line_feed_ends_a_line",
            f"{STDIO}::test_what_was_said_is_answered_before_the_end_of_the_input_ends_the_process",
        ),
        "acp:4.3-1": (
            f"{STDIO}::test_what_was_said_is_answered_before_the_end_of_the_input_ends_the_process",
            f"{COMMAND}::test_an_agent_is_served_to_the_process_that_started_it",
        ),
        "acp:4.4-1": (f"{STDIO}::test_each_request_gets_its_reply_once_and_in_order_though_the_process_is_killed",),
        "acp:5.1-1": ("core/acp/test_link.py::test_a_relay_has_the_same_token",),
        "acp:5.1-2": ("core/acp/test_attempts.py::test_three_failures_lead_to_the_relay_with_the_same_token",),
        "acp:5.3-1": (
            f"{BINDINGS}::test_a_relay_answers_as_its_specification_says",
            f"{ABORTS}[C]",
            f"{COMMAND}::test_an_agent_is_served_in_its_room_of_a_relay",
        ),
        "acp:5.5-1": (f"{BINDINGS}::test_the_rooms_of_a_relay_are_bounded_and_forgotten",),
        "acp:6.2-1": (
            f"{BINDINGS}::test_over_http_a_repeated_post_has_the_same_number_and_reply",
            f"{SECURITY}::test_over_http_each_refusal_has_its_code",
        ),
        "acp:6.3-1": (f"{ABORTS}[D]",),
        "acp:7.2-1": (f"{ABORTS}[E]",),
        "acp:7.3-1": (f"{SECURITY}::test_over_tls_a_certificate_or_a_token_says_who_it_is",),
        "acp:8-1": (f"{VECTORS}::test_an_envelope_is_read_and_written_canonically",),
        "acp:10-1": (
            f"{BINDINGS}::test_texts_of_other_protocols_travel_unchanged_over_every_network",
            f"{COMMAND}::test_one_agent_is_served_over_websocket_http_and_tcp",
        ),
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
    _states("3.3-1", 0, "validate token"),
    _states("3.3-2", 0, "on exhaust → auto-fallback to Binding C"),
    _states("3.4-1", 0, "Each WebSocket frame carries one JSON message (text frame, UTF-8)"),
    _may(
        "3.6-1",
        0,
        "the connecting agent MAY include transport-level HTTP headers.",
        (
            "X-ACP-Token is read, X-ACP-Version sent and returned; our client sends no X-ACP-Agent. A change of the "
            "binding loses all of them."
        ),
    ),
    _states("4.2-1", 0, "One JSON object per line (newline-delimited JSON / NDJSON)"),
    _states("4.3-1", 0, "agent_a | agent_b"),
    _states(
        "4.4-1",
        0,
        "No reconnection — if the process dies, the session ends",
        "Our client starts the command again and sends what was not answered; a server has one session in its life.",
    ),
    _states("5.1-1", 0, "The P2P token (acp://) and the relay token (acp+wss://) are the same value."),
    _states("5.1-2", 0, "The reference relay (acp_relay.py) auto-falls back to Binding C after 3 failed P2P attempts."),
    _states("5.3-1", 0, "GET  /acp/<token>/poll           →  long-poll for messages (1–3s)"),  # noqa: RUF001  # as the specification writes it
    _states("5.5-1", 0, "Message TTL: 60s (configurable in acp_worker.js)"),
    _states("6.2-1", 0, "GET /.well-known/acp.json AgentCard discovery"),
    _states("6.3-1", 0, "Receive (GET /stream):"),
    _states("7.2-1", 0, "Same as stdio: one JSON object per line, UTF-8, \\n terminated."),
    _states("7.3-1", 0, "TLS via TLS wrapping (e.g., stunnel, or Python ssl.wrap_socket)"),
    _must("8-1", 0, "Receiver MUST ignore unknown extension fields (forward compatibility)."),
    _may("10-1", 0, "An agent MAY support multiple bindings simultaneously."),
)

FAMILY: Final = Family(
    name="ACP",
    titles={0: "ACP transport 0.3"},
    sections=frozenset(
        {"1", "3.3", "3.4", "3.6", "4.2", "4.3", "4.4", "5.1", "5.3", "5.5", "6.2", "6.3", "7.2", "7.3", "8", "10"}
    ),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
