"""What the adapters share: the parts of a framework's messages as messages of OpenAI's Chat, projected and put back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from accp_adapters.messages import Layout, Projection, project_messages
from accp_adapters.policy import Policy
from accp_core.references import find_references, is_named, key_of

__all__ = ["ShownPart", "carried", "cites", "made_call", "project_parts", "result", "texts_of", "words"]

_Message = TypeVar("_Message")


class Projected(list[Any]):
    """The messages of a request that were projected: another adapter of ours leaves them as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A part of a message that a projection reads."""

    message: int
    """The index of its message."""
    number: int
    """Its index in there."""
    item: dict[str, Any]
    """The part as a message of OpenAI's Chat."""
    write: Callable[[Any], Any] = lambda content: content
    """Returns the part with another content of `item`; the part itself belongs to the history."""


def words(role: str, content: str | Sequence[str]) -> dict[str, Any]:
    """Return a message of `role`, such as "user": a text, or a text and those that it cites."""
    texts = content if isinstance(content, str) else [{"type": "text", "text": text} for text in content]
    return {"role": role, "content": texts}


def made_call(call_id: str, name: str | None, arguments: Any) -> dict[str, Any]:
    """Return a call of a tool."""
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]}


def result(call_id: str, content: str | Sequence[str]) -> dict[str, Any]:
    """Return the result of a call: a text, or a text and those that it cites."""
    return {**words("tool", content), "tool_call_id": call_id}


def texts_of(content: Any) -> Any:
    """Return a content as a framework has it: a text, or a list of texts."""
    return content if isinstance(content, str) else [part["text"] for part in content]


def carried(text: str, shown: Projection) -> str | list[str]:
    """Return a text that goes from one agent to another, with the texts that it cites where there are any."""
    texts = shown.cited_by(text)
    return [text, *texts] if texts else text


def cites(content: Any) -> bool:
    """Return whether a content is a list of a text and of texts behind the references in it."""
    if not isinstance(content, list) or len(content) < 2 or not all(isinstance(text, str) for text in content):
        return False
    cited = set(find_references(content[0]))
    return bool(cited) and all(is_named(key_of(text), cited) for text in content[1:])


def project_parts(
    messages: Sequence[_Message],
    parts: Sequence[ShownPart],
    policy: Policy,
    rebuilt: Callable[[_Message, list[Any]], _Message],
) -> tuple[list[_Message], Projection]:
    """Return the messages as a model is sent them, and the projection; `rebuilt` returns a message with other parts."""
    shown = project_messages([part.item for part in parts], policy=policy, layout=Layout.OPENAI_CHAT)
    changed: list[Any] = list(messages)
    for part, new in zip(parts, shown.messages, strict=True):
        if new["content"] != part.item["content"]:
            inside = list(changed[part.message].parts or ())
            inside[part.number] = part.write(new["content"])
            changed[part.message] = rebuilt(changed[part.message], inside)
    return Projected(changed), shown
