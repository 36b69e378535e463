"""Frames of ACCP, packets of AACP and contexts of ACI as parts of ACP messages (ACP transport 0.3, section 3.4).

A data part carries its content untouched, so the text of another protocol goes in as text and comes out as it was; the
media type says which it is.
"""

from __future__ import annotations

from enum import StrEnum

from accp_core.acp import AcpMessage, DataPart

__all__ = ["CarriedKind", "read_parts", "text_to_part"]


class CarriedKind(StrEnum):
    """What a data part may carry; the value is its media type."""

    FRAME = "application/accp"
    PACKET = "application/aacp"
    CONTEXT = "application/aci+json"


def text_to_part(kind: CarriedKind, text: str) -> DataPart:
    """Return the part that carries `text`: a frame, a packet or the JSON of a context."""
    return DataPart(content=text, media_type=kind.value)


def read_parts(message: AcpMessage, kind: CarriedKind) -> list[str]:
    """Return the texts of one kind that a message carries, in order; other parts are passed over."""
    return [
        part.content
        for part in message.parts
        if isinstance(part, DataPart) and part.media_type == kind.value and isinstance(part.content, str)
    ]
