"""The A2A extension by which peers agree on frames: its URI, its entry on the card, its request (ACCP section 11.4)."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.types import AgentCard, AgentExtension

from accp_adapters.a2a.wire.values import write_struct
from accp_core import accp
from accp_core.accp.vocabulary import MEDIA_TYPE

__all__ = ["EXTENSION", "declare", "is_declared", "is_requested"]

EXTENSION: Final = "https://datatracker.ietf.org/doc/draft-benzing-accp/00/"
"""The URI of the extension: on the card, and in the header `A2A-Extensions` of a call that requests frames."""
_DESCRIPTION: Final = "Parts may be ACCP frames (application/accp)."


def declare(card: AgentCard) -> AgentCard:
    """Return a copy of `card` that declares the extension, never as required; `card` itself where it does already.

    Signatures of the card are removed, because they cover the card as it was: sign the returned one.
    """
    if is_declared(card):
        return card
    declared = deepcopy(card)
    declared.ClearField("signatures")
    params = {"version": 1, "registry": {"v": accp.BUILT_IN.version, "hash": accp.BUILT_IN.hash}}
    declared.capabilities.extensions.append(
        AgentExtension(uri=EXTENSION, description=_DESCRIPTION, required=False, params=write_struct(params))
    )
    for modes in (declared.default_input_modes, declared.default_output_modes):
        # An empty list means that the agent takes every media type.
        if modes and MEDIA_TYPE not in modes:
            modes.append(MEDIA_TYPE)
    return declared


def is_declared(card: AgentCard) -> bool:
    """Return whether the agent of this card accepts and sends frames."""
    return any(extension.uri == EXTENSION for extension in card.capabilities.extensions)


def is_requested(context: ServerCallContext) -> bool:
    """Return whether the caller requests frames: by the header of the call (A2A 0.3 has another name for it).

    Nothing in a message requests them: its metadata, media types and output modes may be anybody's.
    """
    return EXTENSION in context.requested_extensions
