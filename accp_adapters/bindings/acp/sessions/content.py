"""What a message holds, as a caller says it: a text, a part, or several parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from accp_core.acp import AcpMessage, DataPart, FilePart, OpaquePart, Part, TextPart

__all__ = ["Content", "to_message", "to_parts"]

Content: TypeAlias = "str | Part | Sequence[Part]"


def to_parts(content: Content) -> tuple[Part, ...]:
    """Return the parts of `content`: a text is one text part."""
    if isinstance(content, str):
        return (TextPart(content=content),)
    return (content,) if isinstance(content, (TextPart, FilePart, DataPart, OpaquePart)) else tuple(content)


def to_message(content: Content | AcpMessage) -> AcpMessage:
    """Return the message of `content`; a message stays as it is."""
    return content if isinstance(content, AcpMessage) else AcpMessage(parts=to_parts(content))
