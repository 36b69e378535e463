"""The transport bindings of draft-benzing-accp-00 (section 11) as data, item by item, in the draft's words.

Section 11 has no key words: its items are plain sentences (force `states`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.conformance.requirement import Family, Force, rules

__all__ = ["FAMILY"]

SESSION: Final = "core/accp/session"
MCP_FRAMES: Final = "adapters/mcp/test_frames.py"
MCP_NEGOTIATION: Final = "adapters/mcp/test_negotiation.py"
A2A_FOREIGN: Final = "foreign/test_a2a.py"
A2A_EVENTS: Final = "adapters/a2a/test_frames.py"
MCP_FOREIGN: Final = "foreign/test_mcp.py"
SERVED: Final = "conformance/test_served.py"

HTTP: Final = "adapters/bindings/accp/test_http_endpoint.py"
WEBSOCKET: Final = "adapters/bindings/accp/test_websocket_endpoint.py"

SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "11.1-1": (f"{HTTP}::test_a_frame_is_answered_by_frames", f"{HTTP}::test_only_a_frame_is_posted"),
        "11.1-2": (
            f"{HTTP}::test_a_frame_is_answered_by_frames",
            f"{HTTP}::test_a_request_that_may_not_come_in_is_refused",
        ),
        "11.1-3": (f"{HTTP}::test_what_is_no_frame_of_the_session_has_status_400",),
        "11.1-4": (
            f"{HTTP}::test_a_frame_is_answered_by_frames",
            f"{HTTP}::test_what_is_no_frame_of_the_session_has_status_400",
        ),
        "11.1-5": (f"{HTTP}::test_a_stream_comes_chunk_by_chunk",),
        "11.2-1": (f"{WEBSOCKET}::test_a_connection_begins_with_the_registry",),
        "11.2-2": (
            f"{WEBSOCKET}::test_a_session_begins_with_the_registry_and_answers_in_order",
            f"{WEBSOCKET}::test_a_stream_comes_one_chunk_a_message",
        ),
        "11.2-3": (
            f"{WEBSOCKET}::test_a_connection_begins_with_the_registry",
            f"{SESSION}/test_session.py::test_our_registry_leaves_before_the_first_message_where_it_comes_first",
            f"{SESSION}/test_session.py::test_two_ends_open_a_session_with_their_registries",
            f"{SESSION}/test_resumption.py::test_the_first_connection_has_no_greeting_and_announces_the_registry_once",
        ),
        "11.2-4": (
            f"{WEBSOCKET}::test_a_ping_is_answered_by_a_pong",
            f"{SESSION}/test_heartbeat.py::test_a_ping_is_due_once_in_each_interval",
            f"{SESSION}/test_resumption.py::test_a_pong_shows_that_nothing_is_missing",
        ),
        "11.3-1": (
            f"{MCP_FRAMES}::test_a_result_travels_as_a_frame_and_arrives_as_it_was",
            f"{MCP_FOREIGN}::test_results_and_resources_are_frames_of_the_draft",
        ),
        "11.3-2": (
            f"{MCP_FRAMES}::test_a_result_travels_as_a_frame_and_arrives_as_it_was",
            f"{MCP_FOREIGN}::test_results_and_resources_are_frames_of_the_draft",
            f"{SERVED}::test_a_session_takes_the_frame_of_an_mcp_result",
        ),
        "11.3-3": (
            f"{MCP_NEGOTIATION}::test_a_client_that_declares_is_answered_and_told_the_registry",
            f"{MCP_FOREIGN}::test_each_frame_is_the_next_of_its_session_and_answers_its_request",
        ),
        "11.4-1": (
            f"{A2A_EVENTS}::test_a_completed_task_is_a_request_and_what_was_done",
            f"{A2A_FOREIGN}::test_each_frame_has_its_envelope_and_holds_types_of_the_draft",
        ),
        "11.4-2": (
            f"{A2A_EVENTS}::test_a_completed_task_is_a_request_and_what_was_done",
            f"{A2A_FOREIGN}::test_a_task_is_made_by_req_and_completed_by_done",
            f"{A2A_EVENTS}::test_every_state_has_its_intent",
        ),
        "11.4-3": (
            f"{A2A_EVENTS}::test_the_parts_of_a_chunk_are_stream_frames_one_by_one",
            f"{A2A_FOREIGN}::test_the_parts_of_a_streamed_artifact_are_chunks_with_one_cid",
            f"{SERVED}::test_a_session_takes_the_chunks_of_an_a2a_artifact",
        ),
    }
)

_states = rules(SHOWN_BY)[Force.STATES]

REQUIREMENTS: Final = (
    _states("11.1-1", 0, "Method: POST /accp/v1/frames"),
    _states("11.1-2", 0, "Content-Type: application/accp"),
    _states("11.1-3", 0, "Body: One ACCP frame string per request (UTF-8)"),
    _states(
        "11.1-4",
        0,
        "Response: 200 OK with response ACCP frame, or 400 with ER-schema error frame body",
        "Refused before the frame is looked at, a request has HTTP's own status (401, 413, 429), with an ER frame.",
    ),
    _states("11.1-5", 0, "Streaming: use Transfer-Encoding: chunked with one ST-schema frame per chunk"),
    _states("11.2-1", 0, "Frame type: text"),
    _states("11.2-2", 0, "One ACCP frame string per WebSocket message"),
    _states("11.2-3", 0, "Session established by the first sync:registry frame from the initiator"),
    _states(
        "11.2-4",
        0,
        "Heartbeat: ping/pong intent frames every 30 seconds",
        (
            "Over WebSocket `connect` and `accp serve` ping every 30 seconds; a `SessionHost` of one's own where its "
            "options say so. Over HTTP there is none: nobody is there to notice."
        ),
    ),
    _states("11.3-1", 0, "ACCP frames are carried as MCP resource content with MIME type application/accp"),
    _states(
        "11.3-2",
        0,
        (
            "Tool calls use the TC profile; results are returned as MCP tool responses containing the TC-schema "
            "done:tool frame"
        ),
        "A result that a frame makes larger stays as it is, and so does a resource.",
    ),
    _states(
        "11.3-3",
        0,
        ("Registry sync occurs at MCP session initialization via a sync:registry frame in the system prompt"),
        "MCP has no system prompt: the frame is in the server's instructions.",
    ),
    _states("11.4-1", 0, "ACCP frames are embedded as A2A message parts with content type application/accp"),
    _states("11.4-2", 0, 'A2A task creation maps to ACCP "req" intent; task completion maps to "done"'),
    _states(
        "11.4-3",
        0,
        "A2A streaming artifact parts map 1:1 to ST-schema stream frames",
        (
            "A part that a frame makes larger goes as it is. JSON is in them as a view, our own notation, only for "
            "peers that negotiated it."
        ),
    ),
)

FAMILY: Final = Family(
    name="ACCP bindings",
    titles={0: "section 11"},
    sections=frozenset({"11.1", "11.2", "11.3", "11.4"}),
    requirements=REQUIREMENTS,
    shown_by=SHOWN_BY,
)
