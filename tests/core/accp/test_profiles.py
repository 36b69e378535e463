"""The built-in schemas and the rules of their profiles."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core.accp import Envelope, Intent
from accp_core.accp.frame import Message
from accp_core.accp.profiles import (
    PINNED,
    ErrorReport,
    ToolSignature,
    Transactions,
    check_incoming,
    check_outgoing,
    check_tool_call,
    read_error,
    tool_error,
)
from accp_core.errors import LocalProtocolError
from tests.core.accp.refusals import code_of


def message(schema: str | None = None, intent: Intent = Intent.REQUEST, **payload: Any) -> Message:
    return Message(sender="a", intent=intent, operation="op", payload=payload, schema=schema)


def enveloped(original: Message, **fields: Any) -> Message:
    return replace(original, envelope=Envelope(**fields))


def test_there_are_seven_built_in_schemas_and_no_peer_changes_them() -> None:
    assert {"SR", "TA", "CH", "TC", "TX", "ST", "ER"} == PINNED


@pytest.mark.requirement("10.4-1")
def test_a_chunk_says_which_stream_it_belongs_to_e1001() -> None:
    chunk = message("ST", Intent.STREAM, chunk_index=0)
    assert code_of(check_incoming, chunk) == "E1001"
    check_incoming(enveloped(chunk, correlation_id="s"))


def test_what_we_may_not_send_is_our_fault() -> None:
    with pytest.raises(LocalProtocolError, match=r"E1004: expected a decimal as TX\.amount, found str"):
        check_outgoing(message("TX", amount="1"))
    check_outgoing(message("TX", amount=1.5))


@pytest.mark.requirement("10.3-4")
def test_a_retry_has_a_new_msg_id_e3002() -> None:
    log = Transactions()
    request = enveloped(message("TX", transaction_id="t1"), msg_id="m1")
    log.check(request)
    assert code_of(log.check, request) == "E3002"


def test_a_long_id_is_remembered_by_its_digest() -> None:
    log = Transactions()
    request = enveloped(message("TX", transaction_id="t" * 10_000), msg_id="m1", correlation_id="c" * 10_000)
    log.check(request)
    assert code_of(log.check, request) == "E3002"
    other = enveloped(message("TX", transaction_id="t" * 9_999), msg_id="m2", correlation_id="c" * 10_000)
    assert code_of(log.check, other) == "E5001"


def test_only_transaction_requests_are_remembered_and_only_the_last() -> None:
    log = Transactions(limit=1)
    for ignored in (message("TC"), message("TX", Intent.COMPLETE, transaction_id="t")):
        log.check(ignored)
    assert code_of(log.check, message("TX")) == "E1001"
    log.check(message("TX", transaction_id="t0"))
    for number in (1, 2):
        log.check(
            enveloped(message("TX", transaction_id=f"t{number}"), msg_id=f"m{number}", correlation_id=f"c{number}")
        )
    log.check(enveloped(message("TX", transaction_id="t9"), msg_id="m9", correlation_id="c1"))


TOOLS = {"search": ToolSignature(required=frozenset({"q"}), optional=frozenset({"max"}))}


@pytest.mark.parametrize("arguments", [{}, {"q": 1, "page": 2}, ["q"], "q"])
def test_arguments_that_are_not_the_tools_are_refused_e4003(arguments: Any) -> None:
    assert code_of(check_tool_call, message("TC", tool_name="search", arguments=arguments), TOOLS) == "E4003"


@pytest.mark.requirement("10.2-2")
def test_a_failed_tool_answers_with_e4002() -> None:
    request = enveloped(message("TC", tool_name="search"), msg_id="m1")
    failure = tool_error("tool", request, "no network", detail={"host": "x"})
    report = read_error(failure)
    assert failure.envelope.correlation_id == "m1"
    assert report == ErrorReport(code="E4002", message="no network", retryable=True, detail={"host": "x"})
