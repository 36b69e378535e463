"""A2A errors as codes."""

from __future__ import annotations

import pytest
from a2a.client.errors import A2AClientError
from a2a.utils import errors

from accp_adapters.a2a import error_code
from accp_adapters.a2a.wire.errors import A2A_ERROR_CODES, to_a2a_error
from accp_core.errors import ProtocolError


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.TaskNotFoundError, "E2001"),
        (errors.TaskNotCancelableError, "E5001"),
        (errors.PushNotificationNotSupportedError, "E5001"),
        (errors.UnsupportedOperationError, "E1002"),
        (errors.ContentTypeNotSupportedError, "E1004"),
        (errors.InvalidAgentResponseError, "E1001"),
        (errors.ExtendedAgentCardNotConfiguredError, "E2001"),
        (errors.ExtensionSupportRequiredError, "E1003"),
        (errors.VersionNotSupportedError, "E1001"),
        (errors.InvalidRequestError, "E1001"),
        (errors.JSONParseError, "E1001"),
        (errors.MethodNotFoundError, "E1002"),
        (errors.InvalidParamsError, "E1004"),
        (errors.InternalError, "E9999"),
        (A2AClientError, "E9999"),
        (ValueError, "E9999"),
    ],
)
def test_every_error_has_a_code(kind: type[Exception], code: str) -> None:
    assert error_code(kind("why")) == code


def test_every_error_of_the_sdk_is_in_the_table() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.A2AError)}
    assert kinds - {errors.A2AError} == set(A2A_ERROR_CODES)


def test_a_refusal_of_ours_keeps_its_code() -> None:
    refused = to_a2a_error(ProtocolError("expected a new message, found 'm' again", code="E3002"))
    assert isinstance(refused, errors.InvalidParamsError)
    assert error_code(refused) == "E3002"
    assert "expected a new message" in refused.message
    assert error_code(errors.InvalidParamsError(data={"accp": "E7777"})) == "E1004"
