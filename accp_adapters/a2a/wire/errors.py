"""A2A errors as ACCP error codes, and our refusals as A2A errors (ACCP section 3.6, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from a2a.utils import errors

from accp_adapters.a2a.wire.envelope_flag import METADATA_KEY
from accp_core.accp import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["A2A_ERROR_CODES", "error_code", "to_a2a_error"]

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


def to_a2a_error(error: ProtocolError) -> errors.A2AError:
    """Return the A2A error with which a server refuses a request; its data hold the ACCP code."""
    return errors.InvalidParamsError(message=str(error), data={METADATA_KEY: error.code})
