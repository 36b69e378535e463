"""A2A errors as ACCP error codes and frames, and refusals of ours as A2A errors (ACCP section 3.6, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from a2a.utils import errors

from accp_adapters.a2a.wire.envelope_flag import KEY
from accp_core.accp import BUILT_IN, ErrorCode, Frame, error_message
from accp_core.errors import ProtocolError

__all__ = ["CODES", "error_code", "error_frame", "refusal"]

CODES: Final[Mapping[type[errors.A2AError], ErrorCode]] = MappingProxyType(
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
"""A2A error to ACCP code; any other is E9999."""


def error_code(error: BaseException) -> ErrorCode:
    """Return the ACCP code of what an A2A call raised: that of the refusal which it carries, else that of its kind."""
    told = (getattr(error, "data", None) or {}).get(KEY)
    if told in set(ErrorCode):
        return ErrorCode(told)
    return next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), ErrorCode.INTERNAL_ERROR)


def error_frame(error: BaseException, *, sender: str = "agent", correlation_id: str | None = None) -> Frame:
    """Return the frame that says what an A2A call raised: `fail:error` with schema ER; without msg_id and sequence."""
    message = error_message(sender, error_code(error), str(error), correlation_id=correlation_id)
    keys = BUILT_IN.get("ER").keys
    params = {keys.to_wire(key): value for key, value in message.payload.items()}
    return Frame(
        sender=sender,
        intent=message.intent,
        operation=message.operation,
        params={**params, "schema": "ER"},
        envelope=message.envelope,
    )


def refusal(error: ProtocolError) -> errors.A2AError:
    """Return the A2A error that refuses what the protocol does not allow; its data name the ACCP code."""
    return errors.InvalidParamsError(message=str(error), data={KEY: error.code})
