"""ACCP frames, AACP packets and ACI contexts as parts of ACP messages (ACP transport 0.3, section 3.4).

A data part carries its content unchanged: the text of the other protocol, which the media type names.
"""

from __future__ import annotations

from enum import StrEnum

from accp_core.acp import AcpMessage, DataPart

__all__ = ["CarriedKind", "read_parts", "text_to_part"]


class CarriedKind(StrEnum):
    """The kinds of texts that a data part carries; the value is the media type."""

    FRAME = "application/accp"
    PACKET = "application/aacp"
    CONTEXT = "application/aci+json"


def text_to_part(kind: CarriedKind, text: str) -> DataPart:
    """Return the part for `text`, which is a frame, a packet or the JSON of a context."""
    return DataPart(content=text, media_type=kind.value)


def read_parts(message: AcpMessage, kind: CarriedKind) -> list[str]:
    """Return the texts of one kind in the parts of a message, in order; other parts are ignored."""
    return [
        part.content
        for part in message.parts
        if isinstance(part, DataPart) and part.media_type == kind.value and isinstance(part.content, str)
    ]
