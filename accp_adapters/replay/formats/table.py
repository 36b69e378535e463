"""The formats of recorded runs in the order in which they are tried, and the one that a document is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.replay.formats import anthropic, bedrock, gemini, langchain, logged, openai, spans, trajectories
from accp_adapters.replay.formats.conversation import Item
from accp_adapters.replay.formats.findings import Findings

__all__ = ["FORMATS", "Format", "detect"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way in which runs are written."""

    name: str
    """Its name in code."""
    title: str
    """What messages call it."""
    holds: Callable[[Any], bool]
    """Whether a JSON document is in this format."""
    read: Callable[[Any, Findings], Iterable[Item]]
    """Returns what the document says; KeyError, TypeError, ValueError and AttributeError: it is not as it should be."""


# A record that wraps another one's messages comes before the format of these messages; what has marks of its own
# comes before what is known by less.
FORMATS: Final = (
    Format("trajectories", "trajectories", trajectories.is_trajectory, trajectories.read_trajectory),
    Format("otlp", "OpenTelemetry GenAI and OpenInference spans", spans.is_spans, spans.read_spans),
    Format("langsmith", "LangSmith runs", logged.is_run, logged.read_run),
    Format("langfuse", "Langfuse observations", logged.is_observation, logged.read_observation),
    Format("claude-code", "Claude Code transcripts", anthropic.is_record, anthropic.read_record),
    Format("langchain", "LangChain messages and states", langchain.is_message_dump, langchain.read_langchain),
    Format("bedrock", "Bedrock Converse", bedrock.is_converse, bedrock.read_converse),
    Format("anthropic", "Anthropic Messages", anthropic.is_messages, anthropic.LAYOUT.read),
    Format("gemini", "Gemini contents", gemini.is_contents, gemini.LAYOUT.read),
    Format("openai-responses", "OpenAI Responses", openai.is_responses, openai.read_responses),
    Format("openai", "OpenAI chat", openai.is_chat, openai.LAYOUT.read),
)


def detect(document: object) -> Format | None:
    """Return the format of a document; None: it is in none."""
    return next((each for each in FORMATS if each.holds(document)), None)
