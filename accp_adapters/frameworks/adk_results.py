"""The results in a session of Google ADK, and which agent asked another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from google.adk.events import Event

from accp_adapters.frameworks.parts import result, separated
from accp_adapters.messages import Layout, Projection, project_messages
from accp_core.errors import EncodeError
from accp_core.strict_json import compact_json

__all__ = ["RESULT_FIELD", "asker_of", "result_text", "session_texts"]

RESULT_FIELD: Final = "result"
"""What ADK wraps a result in that is no object."""


def asker_of(context: Any) -> Any:
    """Return the context of the call of an `AgentTool` that an agent answers; None: it answers no other agent."""
    return getattr(context._invocation_context.artifact_service, "tool_context", None)


def session_texts(events: Sequence[Event]) -> Projection:
    """Return what the results of a session open."""
    texts = [text for event in events for each in event.get_function_responses() if (text := result_text(each))]
    return project_messages(
        [result("", text) for joint in texts for text in separated(joint)], layout=Layout.OPENAI_CHAT
    )


def result_text(answered: Any) -> str | None:
    """Return the text of a result; None for an error, a result with files, and one that cannot be written as JSON."""
    response = answered.response
    if not isinstance(response, dict) or "error" in response or getattr(answered, "parts", None):
        return None
    value = response[RESULT_FIELD] if response.keys() == {RESULT_FIELD} else response
    try:
        return value if isinstance(value, str) else compact_json(value)
    except (EncodeError, TypeError, ValueError):
        return None
