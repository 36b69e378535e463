"""A conversation written to a Markdown file for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["write_transcript"]


def write_transcript(path: Path, title: str, messages: tuple[BaseMessage, ...], counter: TokenCounter) -> None:
    """Write a conversation, each message with its role and tokens and its text exactly as the model was sent it.

    Args:
        path: The file.
        title: Its first line.
        messages: The whole conversation.
        counter: Counts the tokens of the model.
    """
    parts = [f"# {title}", *(part for message in messages for part in _message(message, counter))]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8", errors="surrogatepass")


def _message(message: BaseMessage, counter: TokenCounter) -> Iterator[str]:
    if message.text:
        yield f"## {_speaker(message)} ({counter(message.text):,} tokens)"
        yield _fenced(message.text)
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        yield f"## model calls {call['name']}"
        yield _fenced(compact_json(call["args"]))


def _speaker(message: BaseMessage) -> str:
    if isinstance(message, ToolMessage):
        return f"{message.name or 'tool'} answers"
    return {"system": "instructions", "human": "user", "ai": "model"}.get(message.type, message.type)


def _fenced(text: str) -> str:
    """Return `text` in a code block whose fence is longer than every fence in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
