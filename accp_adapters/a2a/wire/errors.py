"""A2A errors as ACCP error codes and frames, and our refusals as A2A errors (ACCP section 3.6, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from a2a.utils import errors

from accp_adapters.a2a.wire.envelope_flag import METADATA_KEY
from accp_core import accp
from accp_core.accp import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["A2A_ERROR_CODES", "error_code", "error_frame", "to_a2a_error"]

A2A_ERROR_CODES: Final[Mapping[type[errors.A2AError], ErrorCode]] = MappingProxyType(
    {
        errors.TaskNotFoundError: ErrorCode.REF_NOT_FOUND,
        errors.TaskNotCancelableError: ErrorCode.POLICY_DENIED,
        errors.PushNotificationNotSupportedError: ErrorCode.POLICY_DENIED,
        errors.UnsupportedOperationError: ErrorCode.INVALID_INTENT,
        errors.ContentTypeNotSupportedError: ErrorCode.INVALID_TYPE,
        errors.InvalidAgentResponseError: ErrorCode.PARSE_ERROR,
        errors.ExtendedAgentCardNotConfiguredError: ErrorCode.REF_NOT_FOUND,
        errors.ExtensionSupportRequiredError: ErrorCode.UNKNOWN_SCHEMA,
        errors.VersionNotSupportedError: ErrorCode.PARSE_ERROR,
        errors.InvalidRequestError: ErrorCode.PARSE_ERROR,
        errors.JSONParseError: ErrorCode.PARSE_ERROR,
        errors.MethodNotFoundError: ErrorCode.INVALID_INTENT,
        errors.InvalidParamsError: ErrorCode.INVALID_TYPE,
        errors.InternalError: ErrorCode.INTERNAL_ERROR,
    }
)
"""A2A error to ACCP code; any other error is E9999."""


def error_code(error: BaseException) -> ErrorCode:
    """Return the ACCP code of an exception that an A2A call raised.

    It is the code in the data of the error, where `to_a2a_error` wrote one, else the code of the error's class.
    """
    code = (getattr(error, "data", None) or {}).get(METADATA_KEY)
    if code in set(ErrorCode):
        return ErrorCode(code)
    return next(
        (A2A_ERROR_CODES[kind] for kind in type(error).__mro__ if kind in A2A_ERROR_CODES), ErrorCode.INTERNAL_ERROR
    )


def error_frame(error: BaseException, *, sender: str = "agent", correlation_id: str | None = None) -> accp.Frame:
    """Return the `fail:error` frame (schema ER) of an exception that an A2A call raised.

    The frame has no msg_id and no sequence: a session adds them when it sends the frame.
    """
    message = accp.error_message(sender, error_code(error), str(error), correlation_id=correlation_id)
    keys = accp.BUILT_IN.get("ER").keys
    params = {keys.to_wire(key): value for key, value in message.payload.items()}
    return accp.Frame(
        sender=sender,
        intent=message.intent,
        operation=message.operation,
        params={**params, "schema": "ER"},
        envelope=message.envelope,
    )


def to_a2a_error(error: ProtocolError) -> errors.A2AError:
    """Return the A2A error with which a server refuses a request; its data hold the ACCP code."""
    return errors.InvalidParamsError(message=str(error), data={METADATA_KEY: error.code})
