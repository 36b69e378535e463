"""The formats of recorded runs in the order in which they are tried, and the one that a document is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Item
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.frameworks import autogen, langchain, pydantic_ai, trajectories, vercel
from accp_adapters.replay.formats.providers import anthropic, bedrock, gemini, openai_chat, openai_responses
from accp_adapters.replay.formats.traces import langfuse, langsmith, litellm, openai_agents, otlp
from accp_adapters.replay.formats.transcripts import a2a, claude_code, codex, mcp

__all__ = ["FORMATS", "Format", "detect", "format_named"]


@dataclass(frozen=True, slots=True)
class Format:
    """One way in which runs are written."""

    name: str
    """What `--format` calls it."""
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
    Format("otlp", "OpenTelemetry GenAI and OpenInference spans", otlp.is_spans, otlp.read_spans),
    Format("langsmith", "LangSmith runs", langsmith.is_run, langsmith.read_run),
    Format("langfuse", "Langfuse observations", langfuse.is_observation, langfuse.read_observation),
    Format("litellm", "LiteLLM payloads", litellm.is_payload, litellm.read_payload),
    Format("openai-agents", "OpenAI Agents spans", openai_agents.is_agents_span, openai_agents.read_agents_span),
    Format("codex", "Codex rollouts", codex.is_record, codex.read_record),
    Format("claude-code", "Claude Code transcripts", claude_code.is_record, claude_code.read_record),
    Format("a2a", "A2A tasks", a2a.is_task, a2a.read_task),
    Format("mcp", "MCP messages", mcp.is_message, mcp.read_message),
    Format("pydantic-ai", "Pydantic AI histories", pydantic_ai.is_history, pydantic_ai.read_history),
    Format("autogen", "AutoGen messages", autogen.is_autogen, autogen.read_autogen),
    Format("langchain", "LangChain messages and states", langchain.is_message_dump, langchain.read_langchain),
    Format("bedrock", "Bedrock Converse", bedrock.is_converse, bedrock.read_converse),
    Format("anthropic", "Anthropic Messages", anthropic.is_messages, anthropic.LAYOUT.read),
    Format("vercel", "Vercel AI messages", vercel.is_vercel, vercel.LAYOUT.read),
    Format("gemini", "Gemini contents", gemini.is_contents, gemini.LAYOUT.read),
    Format("openai-responses", "OpenAI Responses", openai_responses.is_responses, openai_responses.read_responses),
    Format("openai", "OpenAI chat", openai_chat.is_chat, openai_chat.LAYOUT.read),
)


def detect(document: object) -> Format | None:
    """Return the format of a document; None: it is in none."""
    return next((each for each in FORMATS if each.holds(document)), None)


def format_named(name: str) -> Format:
    """Return the format called `name`.

    Raises:
        ValueError: there is none; the text names those that are.
    """
    found = next((each for each in FORMATS if each.name == name), None)
    if found is None:
        known = ", ".join(each.name for each in FORMATS)
        raise ValueError(f"expected one of the formats {known}, found {name!r}")
    return found
