"""The A2A extension by which peers agree on frames: its name, its card entry, who asked for it (ACCP section 11.4)."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.types import AgentCard, AgentExtension, Message, SendMessageRequest

from accp_adapters.a2a.wire.envelope_flag import MEDIA_TYPE, is_marked
from accp_adapters.a2a.wire.values import write_struct
from accp_core.accp import BUILT_IN

__all__ = ["EXTENSION", "declare", "is_declared", "is_requested"]

EXTENSION: Final = "https://datatracker.ietf.org/doc/draft-benzing-accp/00/"
"""The URI of the extension: on the card, and in the header `A2A-Extensions` of a call that wants it."""
_DESCRIPTION: Final = "Parts may be ACCP frames (application/accp)."


def declare(card: AgentCard) -> AgentCard:
    """Return `card` with the extension, never required; declared once, it comes back as it is.

    Signatures go, because they covered another card: sign what this returns.
    """
    if is_declared(card):
        return card
    declared = deepcopy(card)
    declared.ClearField("signatures")
    params = {"version": 1, "registry": {"v": BUILT_IN.version, "hash": BUILT_IN.hash}}
    declared.capabilities.extensions.append(
        AgentExtension(uri=EXTENSION, description=_DESCRIPTION, required=False, params=write_struct(params))
    )
    for modes in (declared.default_input_modes, declared.default_output_modes):
        # No modes at all means that any will do.
        if modes and MEDIA_TYPE not in modes:
            modes.append(MEDIA_TYPE)
    return declared


def is_declared(card: AgentCard) -> bool:
    """Return whether the agent of this card takes and gives frames."""
    return any(extension.uri == EXTENSION for extension in card.capabilities.extensions)


def is_requested(context: ServerCallContext, request: object = None) -> bool:
    """Return whether the caller wants frames: by the header of the call, or by what its message holds."""
    if EXTENSION in context.requested_extensions:
        return True
    if not isinstance(request, SendMessageRequest):
        return False
    return MEDIA_TYPE in request.configuration.accepted_output_modes or _speaks(request.message)


def _speaks(message: Message) -> bool:
    frames = any(part.media_type == MEDIA_TYPE for part in message.parts)
    return EXTENSION in message.extensions or is_marked(message) or frames
