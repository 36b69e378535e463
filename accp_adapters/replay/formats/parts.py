"""What the readers of conversations share: the parts of a content, instructions, checked types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Part, Turn, text
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.recorded_run import Role

__all__ = [
    "ROLES",
    "ReadBlock",
    "ReadMessage",
    "content_parts",
    "has_block",
    "instructions",
    "read_turns",
    "require_mapping",
    "result_text",
    "turn_of",
]

ReadMessage = Callable[[Mapping[str, Any], Findings], Iterable[Turn]]
"""Returns the turns in one message."""
ReadBlock = Callable[[Mapping[str, Any], Findings], Iterable[Part]]
"""Returns the parts in one block of a message's content."""


ROLES: Final[Mapping[str, Role]] = {
    "system": Role.INSTRUCTIONS,
    "developer": Role.INSTRUCTIONS,
    "user": Role.USER,
    "assistant": Role.AGENT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
"""Roles as OpenAI calls them, and most others."""


def turn_of(
    role: object, parts: Iterable[Part], findings: Findings, owner: str, roles: Mapping[str, Role] = ROLES
) -> Iterator[Turn]:
    """Yield the turn that a message is; none where `role` is no key of `roles`, which is a finding of `owner`."""
    known = roles.get(role) if isinstance(role, str) else None
    if known is None:
        findings.role(role, owner)
    else:
        yield Turn(role=known, parts=tuple(parts))


def has_block(messages: object, kinds: Iterable[str]) -> bool:
    """Return whether a message of the list `messages` has a block of one of the types `kinds` in its content."""
    wanted = frozenset(kinds)
    return isinstance(messages, list) and any(
        isinstance(block, Mapping) and isinstance(kind := block.get("type"), str) and kind in wanted
        for message in messages
        if isinstance(message, Mapping) and isinstance(content := message.get("content"), list)
        for block in content
    )


def read_turns(messages: object, read_message: ReadMessage, findings: Findings) -> tuple[Turn, ...]:
    """Return the turns in a list of messages.

    Raises:
        TypeError: it is no list of objects.
    """
    if not isinstance(messages, list):
        raise TypeError(f"expected a list of messages, found {messages!r:.60}")
    return tuple(turn for message in messages for turn in read_message(require_mapping(message, "a message"), findings))


def content_parts(content: object, read_block: ReadBlock, findings: Findings) -> Iterator[Part]:
    """Yield the parts of a message's content: nothing, a text, a block or a list of texts and blocks.

    Raises:
        TypeError: the content is something else.
    """
    match content:
        case None | "":
            return
        case str(words):
            yield text(words)
        case Mapping():
            yield from read_block(content, findings)
        case [*blocks]:
            for block in blocks:
                yield from [text(block)] if isinstance(block, str) else read_block(_block(block), findings)
        case _:
            raise TypeError(f"expected content as text or as a list of blocks, found {content!r:.60}")


def result_text(content: object, read_block: ReadBlock, findings: Findings) -> str:
    """Return the text of a tool result whose content may be a list of blocks."""
    return "\n".join(part.text for part in content_parts(content, read_block, findings) if part.text)


def instructions(words: str) -> tuple[Turn, ...]:
    """Return the turn of instructions outside of the messages; none where there are no words."""
    return (Turn(role=Role.INSTRUCTIONS, parts=(text(words),)),) if words else ()


def require_mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return `value`; TypeError: it is no JSON object."""
    if not isinstance(value, Mapping):
        raise TypeError(f"expected {what} as a JSON object, found {value!r:.60}")
    return value


def _block(block: object) -> Mapping[str, Any]:
    return require_mapping(block, "a block of content")
