"""The transport bindings of draft-benzing-accp-00 (section 11) as data, item by item, in the draft's words.

Section 11 has no key words: its items are plain sentences (force `states`). What no binding of ours does yet is
deferred; a session alone cannot show it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.requirement import Family, Force, rules

__all__ = ["FAMILY"]

SESSION: Final = "core/accp/session"
MCP_FRAMES: Final = "adapters/mcp/shim/results/test_frames.py"
MCP_NEGOTIATION: Final = "adapters/mcp/shim/test_negotiation.py"
A2A_EVENTS: Final = "adapters/a2a/wire/test_events.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "11.2-3": (
            f"{SESSION}/test_session.py::test_our_registry_leaves_before_the_first_message_where_it_comes_first",
            f"{SESSION}/test_session.py::test_two_ends_open_a_session_with_their_registries",
            f"{SESSION}/test_resumption.py::test_the_first_connection_has_no_greeting_and_announces_the_registry_once",
        ),
        "11.2-4": (
            f"{SESSION}/test_heartbeat.py::test_a_ping_is_due_once_in_each_interval",
            f"{SESSION}/test_resumption.py::test_a_pong_shows_that_nothing_is_missing",
        ),
        "11.3-1": (f"{MCP_FRAMES}::test_a_result_travels_as_a_frame_and_arrives_as_it_was",),
        "11.3-2": (f"{MCP_FRAMES}::test_a_result_travels_as_a_frame_and_arrives_as_it_was",),
        "11.3-3": (f"{MCP_NEGOTIATION}::test_a_client_that_declares_is_answered_and_told_the_registry",),
        "11.4-1": (f"{A2A_EVENTS}::test_a_completed_task_is_a_request_and_what_was_done",),
        "11.4-2": (
            f"{A2A_EVENTS}::test_a_completed_task_is_a_request_and_what_was_done",
            f"{A2A_EVENTS}::test_every_state_has_its_intent",
        ),
        "11.4-3": (f"{A2A_EVENTS}::test_the_parts_of_a_chunk_are_stream_frames_one_by_one",),
    }
)

_states = rules(SHOWN_BY)[Force.STATES]
_HTTP: Final = "There is no binding for HTTP yet."
_WEBSOCKET: Final = "There is no binding for WebSocket yet."

REQUIREMENTS: Final = (
    _states("11.1-1", 0, "Method: POST /accp/v1/frames", deferred=_HTTP),
    _states("11.1-2", 0, "Content-Type: application/accp", deferred=_HTTP),
    _states("11.1-3", 0, "Body: One ACCP frame string per request (UTF-8)", deferred=_HTTP),
    _states(
        "11.1-4", 0, "Response: 200 OK with response ACCP frame, or 400 with ER-schema error frame body", deferred=_HTTP
    ),
    _states(
        "11.1-5", 0, "Streaming: use Transfer-Encoding: chunked with one ST-schema frame per chunk", deferred=_HTTP
    ),
    _states("11.2-1", 0, "Frame type: text", deferred=_WEBSOCKET),
    _states("11.2-2", 0, "One ACCP frame string per WebSocket message", deferred=_WEBSOCKET),
    _states("11.2-3", 0, "Session established by the first sync:registry frame from the initiator"),
    _states(
        "11.2-4",
        0,
        "Heartbeat: ping/pong intent frames every 30 seconds",
        "The interval is an option, and none by default: many transports notice a lost peer themselves.",
    ),
    _states("11.3-1", 0, "ACCP frames are carried as MCP resource content with MIME type application/accp"),
    _states(
        "11.3-2",
        0,
        (
            "Tool calls use the TC profile; results are returned as MCP tool responses containing the TC-schema "
            "done:tool frame"
        ),
    ),
    _states(
        "11.3-3",
        0,
        ("Registry sync occurs at MCP session initialization via a sync:registry frame in the system prompt"),
        "MCP has no system prompt: the frame is in the server's instructions.",
    ),
    _states("11.4-1", 0, "ACCP frames are embedded as A2A message parts with content type application/accp"),
    _states("11.4-2", 0, 'A2A task creation maps to ACCP "req" intent; task completion maps to "done"'),
    _states("11.4-3", 0, "A2A streaming artifact parts map 1:1 to ST-schema stream frames"),
)

FAMILY: Final = Family(
    name="ACCP bindings",
    titles={0: "section 11"},
    sections=frozenset({"11.1", "11.2", "11.3", "11.4"}),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
