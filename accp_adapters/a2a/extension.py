"""The A2A extension by which peers agree on frames: its URI, the card, the request, the errors (ACCP section 11.4)."""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from a2a.client.errors import A2AClientError
from a2a.server.context import ServerCallContext
from a2a.types import AgentCard
from a2a.utils import errors

from accp_adapters.policy import is_disabled
from accp_core import accp
from accp_core.accp import ErrorCode
from accp_core.accp.frame import MEDIA_TYPE

__all__ = ["EXTENSION", "VIEWS", "declare", "error_code", "is_declared", "is_requested"]

EXTENSION: Final = "https://datatracker.ietf.org/doc/draft-benzing-accp/00/"
"""The URI of the extension: on the card, and in the header `A2A-Extensions` of a call that requests frames."""
VIEWS: Final = "urn:x-accp-middleware:a2a-views:1"
"""The URI by which peers of this library agree on views in frames, beside that of the draft."""
_DESCRIPTION: Final = "Parts may be ACCP frames (application/accp)."
_VIEWS_DESCRIPTION: Final = "Frames may hold views of accp-middleware."


def declare(card: AgentCard) -> AgentCard:
    """Return a copy of `card` that declares the extension, never as required.

    `card` itself is returned where it declares it already, and where `ACCP_DISABLED` switches the middleware off.
    Signatures of the card are removed, because they cover the card as it was: sign the returned one.
    """
    if is_declared(card) or is_disabled():
        return card
    declared = deepcopy(card)
    declared.ClearField("signatures")
    params = {"version": 1, "registry": {"v": accp.BUILT_IN.version, "hash": accp.BUILT_IN.hash}}
    declared.capabilities.extensions.add(uri=EXTENSION, description=_DESCRIPTION, required=False, params=params)
    declared.capabilities.extensions.add(uri=VIEWS, description=_VIEWS_DESCRIPTION, required=False)
    for modes in (declared.default_input_modes, declared.default_output_modes):
        # An empty list means that the agent takes every media type.
        if modes and MEDIA_TYPE not in modes:
            modes.append(MEDIA_TYPE)
    return declared


def is_declared(card: AgentCard, uri: str = EXTENSION) -> bool:
    """Return whether the agent of this card accepts and sends frames, or with `VIEWS` also views in them."""
    return any(extension.uri == uri for extension in card.capabilities.extensions)


def is_requested(context: ServerCallContext, uri: str = EXTENSION) -> bool:
    """Return whether the caller requests frames, or with `VIEWS` also views in them.

    The header of the call says so (A2A 0.3 has another name for it).

    Nothing in a message requests them: its metadata, media types and output modes may be anybody's.
    """
    return uri in context.requested_extensions


# --- errors (ACCP section 3.6, Table 6) -------------------------------------------------------------------------------

_ERRORS: Final = {
    ErrorCode.PARSE_ERROR: (
        *(errors.InvalidAgentResponseError, errors.VersionNotSupportedError),
        *(errors.InvalidRequestError, errors.JSONParseError),
    ),
    ErrorCode.INVALID_INTENT: (errors.UnsupportedOperationError, errors.MethodNotFoundError),
    ErrorCode.UNKNOWN_SCHEMA: (errors.ExtensionSupportRequiredError,),
    ErrorCode.INVALID_TYPE: (errors.ContentTypeNotSupportedError, errors.InvalidParamsError),
    ErrorCode.REF_NOT_FOUND: (errors.TaskNotFoundError, errors.ExtendedAgentCardNotConfiguredError),
    ErrorCode.TIMEOUT: (A2AClientError,),  # the agent was not reached, or its answer is none
    ErrorCode.POLICY_DENIED: (errors.TaskNotCancelableError, errors.PushNotificationNotSupportedError),
}
"""ACCP code to the errors of A2A that have it; any other error is E9999."""


def error_code(error: BaseException) -> ErrorCode:
    """Return the ACCP code of an exception that an A2A call raised.

    It is the code in the data of the error, where the peer wrote one, else the code of the error's class.
    """
    code = (getattr(error, "data", None) or {}).get("accp")
    if code in set(ErrorCode):
        return ErrorCode(code)
    return next((code for code, kinds in _ERRORS.items() if isinstance(error, kinds)), ErrorCode.INTERNAL_ERROR)
