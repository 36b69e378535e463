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
DEPARTURES: Final = "adapters/bindings/acp/test_departures.py"
FOREIGN: Final = "foreign/test_acp.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "acp:1-1": (
            f"{HANDSHAKE}::test_a_card_is_flat_says_what_is_on_and_is_read_wrapped_as_well",
            f"{HANDSHAKE}::test_each_side_learns_who_the_other_is",
            f"{FOREIGN}::test_a_direct_guest_gets_the_card_and_its_answers",
        ),
        "acp:1-2": (
            f"{VECTORS}::test_an_envelope_is_read_and_written_canonically",
            "core/acp/test_envelope.py::test_an_envelope_comes_back_from_its_text",
            f"{FOREIGN}::test_a_direct_guest_gets_the_card_and_its_answers",
            f"{FOREIGN}::test_unknown_types_are_ignored_and_numbers_of_the_server_rise",
        ),
        "acp:3.2-1": (f"{FOREIGN}::test_a_link_has_host_port_and_a_token_that_was_made_at_startup",),
        "acp:3.3-1": (
            f"{SECURITY}::test_a_wrong_token_gets_an_error_frame_and_4401",
            f"{FOREIGN}::test_the_token_may_stand_in_a_header_and_a_wrong_one_is_refused",
        ),
        "acp:3.3-3": (
            f"{FOREIGN}::test_a_direct_guest_gets_the_card_and_its_answers",
            f"{DEPARTURES}::test_one_token_is_served_by_each_binding_in_any_order",
        ),
        "acp:3.5-1": (f"{FOREIGN}::test_a_direct_guest_gets_the_card_and_its_answers",),
        "acp:3.3-2": (f"{BINDINGS}::test_a_guest_falls_back_to_the_relay_and_keeps_its_session",),
        "acp:3.4-1": (
            f"{FOREIGN}::test_a_direct_guest_gets_the_card_and_its_answers",
            f"{ABORTS}[A]",
            f"{SECURITY}::test_a_frame_that_is_too_large_or_no_text_ends_a_connection",
        ),
        "acp:3.6-1": (
            f"{FOREIGN}::test_the_token_may_stand_in_a_header_and_a_wrong_one_is_refused",
            f"{DEPARTURES}::test_a_guest_says_its_name_in_a_header_of_its_websocket",
        ),
        "acp:3.6-2": (
            "core/acp/test_attempts.py::test_three_failures_lead_to_the_relay_with_the_same_token",
            f"{BINDINGS}::test_a_guest_falls_back_to_the_relay_and_keeps_its_session",
        ),
        "acp:4.2-1": (
            f"{FOREIGN}::test_lines_on_standard_input_are_answered_on_standard_output",
            f"{FRAMING}::test_lines_come_back_however_the_stream_is_cut",
            f"{FRAMING}::test_only_a_line_feed_ends_a_line",
            f"{STDIO}::test_what_was_said_is_answered_before_the_end_of_the_input_ends_the_process",
        ),
        "acp:4.3-1": (
            f"{STDIO}::test_what_was_said_is_answered_before_the_end_of_the_input_ends_the_process",
            f"{COMMAND}::test_an_agent_is_served_to_the_process_that_started_it",
        ),
        "acp:4.4-1": (f"{STDIO}::test_each_request_gets_its_reply_once_and_in_order_though_the_process_is_killed",),
        "acp:5.1-1": (
            "core/acp/test_link.py::test_a_relay_has_the_same_token",
            f"{FOREIGN}::test_a_link_has_host_port_and_a_token_that_was_made_at_startup",
        ),
        "acp:5.1-2": ("core/acp/test_attempts.py::test_three_failures_lead_to_the_relay_with_the_same_token",),
        "acp:5.3-2": (
            f"{FOREIGN}::test_a_guest_of_the_relay_joins_sends_and_polls_with_the_same_token",
            f"{BINDINGS}::test_a_relay_answers_as_its_specification_says",
        ),
        "acp:5.3-3": (
            f"{FOREIGN}::test_a_guest_of_the_relay_joins_sends_and_polls_with_the_same_token",
            f"{DEPARTURES}::test_a_guest_joins_its_room_with_its_card",
        ),
        "acp:5.4-1": (f"{COMMAND}::test_the_relay_is_a_command",),
        "acp:5.3-1": (
            f"{FOREIGN}::test_a_guest_of_the_relay_joins_sends_and_polls_with_the_same_token",
            f"{BINDINGS}::test_a_relay_answers_as_its_specification_says",
            f"{ABORTS}[C]",
            f"{COMMAND}::test_the_relay_is_a_command",
        ),
        "acp:5.5-1": (
            f"{BINDINGS}::test_the_rooms_of_a_relay_are_bounded_and_forgotten",
            f"{FOREIGN}::test_messages_of_a_relay_live_as_long_as_it_is_told",
        ),
        "acp:6.2-1": (
            f"{FOREIGN}::test_a_message_is_posted_and_the_answers_stream",
            f"{BINDINGS}::test_over_http_a_repeated_post_has_the_same_number_and_reply",
            f"{SECURITY}::test_over_http_each_refusal_has_its_code",
        ),
        "acp:6.3-1": (f"{FOREIGN}::test_a_message_is_posted_and_the_answers_stream", f"{ABORTS}[D]"),
        "acp:6.3-2": (f"{FOREIGN}::test_a_silent_stream_is_kept_alive_by_comments",),
        "acp:7.2-1": (
            f"{FOREIGN}::test_lines_on_tcp_are_answered_once_the_first_has_brought_the_token",
            f"{ABORTS}[E]",
        ),
        "acp:7.3-1": (f"{SECURITY}::test_over_tls_a_certificate_or_a_token_says_who_it_is",),
        "acp:8-1": (
            f"{VECTORS}::test_an_envelope_is_read_and_written_canonically",
            f"{FOREIGN}::test_a_direct_guest_gets_the_card_and_its_answers",
        ),
        "acp:8-2": (
            f"{FOREIGN}::test_a_message_that_comes_twice_is_handled_once",
            f"{FOREIGN}::test_a_message_is_posted_and_the_answers_stream",
        ),
        "acp:8-3": (f"{FOREIGN}::test_unknown_types_are_ignored_and_numbers_of_the_server_rise",),
        "acp:8-4": (f"{FOREIGN}::test_a_sync_request_is_answered_by_a_reply_and_fields_of_a_task_are_taken",),
        "acp:8-5": (f"{BINDINGS}::test_only_a_controller_sees_and_uses_the_peers_of_others",),
        "acp:10-1": (
            f"{BINDINGS}::test_texts_of_other_protocols_travel_unchanged_over_every_network",
            f"{COMMAND}::test_one_agent_is_served_over_websocket_http_and_tcp",
            f"{DEPARTURES}::test_one_token_is_served_by_each_binding_in_any_order",
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
    _states("3.2-1", 0, "token — Session token (tok_ + 16 hex chars), generated at startup"),
    _states("3.3-1", 0, "validate token"),
    _states("3.5-1", 0, '"capabilities": {"multi_session": true}, "endpoints": {send, stream, peers, peer_send}'),
    _states("3.3-2", 0, "on exhaust → auto-fallback to Binding C"),
    _states("3.3-3", 0, "send AgentCard → … Either side can send messages now … reconnect"),
    _states("3.4-1", 0, "Each WebSocket frame carries one JSON message (text frame, UTF-8)"),
    _may(
        "3.6-1",
        0,
        "the connecting agent MAY include transport-level HTTP headers.",
    ),
    _must(
        "3.6-2",
        0,
        "Any semantics that must survive a binding switch MUST be in the envelope, not in headers.",
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
    _states("5.3-2", 0, "Host startup: POST /acp/new?token=<p2p_token> → relay pre-registers session"),
    _states("5.3-3", 0, "Guest (Binding A failed): POST /acp/<token>/join → join relay session"),
    _states("5.4-1", 0, "Anyone can deploy their own … The link naturally carries the relay host"),
    _states("5.5-1", 0, "Message TTL: 60s (configurable in acp_worker.js)"),
    _states("6.2-1", 0, "GET /.well-known/acp.json AgentCard discovery"),
    _states("6.3-1", 0, "Receive (GET /stream):"),
    _states("6.3-2", 0, ": keepalive"),
    _states("7.2-1", 0, "Same as stdio: one JSON object per line, UTF-8, \\n terminated."),
    _states("7.3-1", 0, "TLS via TLS wrapping (e.g., stunnel, or Python ssl.wrap_socket)"),
    _must("8-1", 0, "Receiver MUST ignore unknown extension fields (forward compatibility)."),
    _states("8-2", 0, "message_id: Client-generated unique ID for deduplication"),
    _states("8-3", 0, "server_seq: Server-assigned monotonic sequence number"),
    _states(
        "8-4",
        0,
        "task_id, context_id: Associates message with a Task / conversation; correlation_id: Links a reply to its "
        "original message",
    ),
    _states(
        "8-5",
        0,
        "to_peer: Directed send target (multi-session)",
        "Over HTTP it stands in the path or as `peer_id`; only a controller may send to peers of others. Within a "
        "session there is one peer, and the field is ignored.",
    ),
    _may("10-1", 0, "An agent MAY support multiple bindings simultaneously."),
)

FAMILY: Final = Family(
    name="ACP",
    titles={0: "ACP transport 0.3"},
    sections=frozenset(
        {
            *("1", "3.2", "3.3", "3.4", "3.5", "3.6", "4.2", "4.3", "4.4"),
            *("5.1", "5.3", "5.4", "5.5", "6.2", "6.3", "7.2", "7.3", "8", "10"),
        }
    ),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
