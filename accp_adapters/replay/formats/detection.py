"""The format of a recorded run, found from its content, and the run in it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from accp_adapters.replay.formats.langchain import is_message_dump, message_dump_to_run
from accp_adapters.replay.formats.openai import chat_to_run, is_chat
from accp_adapters.replay.formats.trajectories import is_trajectory, trajectory_to_run
from accp_adapters.replay.recorded_run import Run

__all__ = ["RunFormat", "document_to_run", "is_message"]

_EXPECTED = "expected OpenAI chat messages, LangChain messages (messages_to_dict, dumps) or trajectories"


class RunFormat(StrEnum):
    """How a run is written."""

    OPENAI = "openai"
    LANGCHAIN = "langchain"
    TRAJECTORIES = "trajectories"


def document_to_run(document: Any, run_format: RunFormat | None, *, name: str, source: str, tools: object) -> Run:
    """Return the run in one JSON document.

    Args:
        document: The value of the document.
        run_format: How the run is written; None: found from the content.
        name: The name of the run; a trajectory has its own.
        source: The file.
        tools: The tool definitions of a run that holds none, or None.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: the document is not a run of that format.
    """
    chosen = run_format or _detect(document)
    if chosen is RunFormat.TRAJECTORIES:
        return trajectory_to_run(document, source, tools)
    messages, own_tools = _conversation(document)
    convert = chat_to_run if chosen is RunFormat.OPENAI else message_dump_to_run
    return convert(messages, own_tools or tools, name=name, source=source)


def is_message(document: object) -> bool:
    """Return whether `document` is one message of a conversation, not a whole run."""
    return is_chat([document]) or is_message_dump([document])


def _detect(document: object) -> RunFormat:
    if is_trajectory(document):
        return RunFormat.TRAJECTORIES
    messages, _ = _conversation(document)
    if is_chat(messages):
        return RunFormat.OPENAI
    if is_message_dump(messages):
        return RunFormat.LANGCHAIN
    raise ValueError(_EXPECTED)


def _conversation(document: Any) -> tuple[list[Mapping[str, Any]], object]:
    """Return the messages of a document and its tool definitions, None where it has none."""
    if isinstance(document, list):
        return document, None
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        return document["messages"], document.get("tools")
    raise ValueError(_EXPECTED)
