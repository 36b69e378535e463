"""The built-in schemas and the rules of their profiles."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_core.accp import Envelope, ErrorCode, Intent, Ref
from accp_core.accp.message import Message
from accp_core.accp.profiles import (
    BUILT_IN,
    PINNED,
    ErrorReport,
    ToolSignature,
    Transactions,
    check_fields,
    check_incoming,
    check_outgoing,
    check_tool_call,
    error_message,
    read_error,
    reply_correlation,
    tool_error,
)
from accp_core.errors import LocalProtocolError, ProtocolError


def message(schema: str | None = None, intent: Intent = Intent.REQUEST, **payload: Any) -> Message:
    return Message(sender="a", intent=intent, operation="op", payload=payload, schema=schema)


def enveloped(original: Message, **fields: Any) -> Message:
    return replace(original, envelope=Envelope(**fields))


def code_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(ProtocolError) as refusal:
        call(*arguments)
    return refusal.value.code


@pytest.mark.parametrize(
    ("code", "version", "fields", "defaults"),
    [
        ("SR", 1, "period revenue growth_pct segments notes", {"period": "quarterly", "segments": []}),
        ("TA", 2, "assignee task priority deadline deps", {"priority": "medium", "deps": []}),
        ("CH", 1, "role content turn lang reply_to", {"role": "assistant", "lang": "en"}),
        ("TC", 1, "tool_name arguments result status error_code", {"status": "ok"}),
        (
            "TX",
            1,
            "transaction_id amount currency account reference status retryable",
            {"currency": "USD", "status": "pending", "retryable": False},
        ),
        ("ST", 1, "chunk_index total_chunks data is_final", {"is_final": False}),
        ("ER", 1, "code message retryable detail", {}),
    ],
)
def test_a_built_in_schema_is_as_the_draft_has_it(code: str, version: int, fields: str, defaults: Any) -> None:
    schema = BUILT_IN.get(code)
    assert (schema.version, schema.fields, dict(schema.defaults)) == (version, tuple(fields.split()), defaults)


def test_there_are_seven_built_in_schemas_and_no_peer_changes_them() -> None:
    assert {"SR", "TA", "CH", "TC", "TX", "ST", "ER"} == PINNED


@pytest.mark.parametrize(
    ("schema", "field", "value"),
    [
        ("TX", "amount", "142.5"),
        ("TX", "amount", True),
        ("TX", "amount", None),
        ("TX", "transaction_id", 7),
        ("TX", "retryable", 1),
        ("ER", "retryable", "true"),
        ("ER", "code", 3001),
        ("ST", "is_final", 1),
        ("ST", "chunk_index", -1),
        ("ST", "chunk_index", True),
        ("ST", "chunk_index", 1.0),
        ("ST", "total_chunks", "3"),
    ],
)
def test_a_field_of_another_type_is_refused_e1004(schema: str, field: str, value: Any) -> None:
    assert code_of(check_fields, message(schema, **{field: value})) == "E1004"


@pytest.mark.parametrize("amount", [142.5, Decimal("142.5"), 142, Ref("cold.x")])
def test_an_amount_is_a_number_or_stands_elsewhere(amount: Any) -> None:
    check_fields(message("TX", amount=amount))


def test_without_the_schema_a_field_may_be_anything() -> None:
    check_fields(message(None, amount="142.5", retryable=3))
    check_fields(message("CH", amount="142.5"))


@pytest.mark.parametrize("intent", [Intent.COMPLETE, Intent.FAILURE])
def test_a_tools_answer_says_which_request_it_answers_e1001(intent: Intent) -> None:
    assert code_of(check_incoming, message("TC", intent)) == "E1001"
    linked = enveloped(message("TC", intent), correlation_id="m1")
    if intent is Intent.FAILURE:
        assert code_of(check_incoming, linked) == "E4003"
    else:
        check_incoming(linked)
    check_incoming(message("TC"))


def test_a_chunk_says_which_stream_it_belongs_to_e1001() -> None:
    chunk = message("ST", Intent.STREAM, chunk_index=0)
    assert code_of(check_incoming, chunk) == "E1001"
    check_incoming(enveloped(chunk, correlation_id="s"))


def test_what_we_may_not_send_is_our_fault() -> None:
    with pytest.raises(LocalProtocolError, match=r"E1004: expected a decimal as TX\.amount, found str"):
        check_outgoing(message("TX", amount="1"))
    check_outgoing(message("TX", amount=1.5))


def test_a_tool_fails_with_schema_er_e4003() -> None:
    failure = enveloped(message("TC", Intent.FAILURE), correlation_id="m1")
    assert code_of(check_outgoing, failure) == "E4003"


def test_a_retry_keeps_its_transaction_e5001() -> None:
    log = Transactions()
    first = enveloped(message("TX", transaction_id="t1"), msg_id="m1", correlation_id="c")
    check_outgoing(first, log)
    check_outgoing(enveloped(first, msg_id="m2", correlation_id="c"), log)
    other = enveloped(message("TX", transaction_id="t2"), msg_id="m3", correlation_id="c")
    assert code_of(check_incoming, other, log) == "E5001"


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


def test_a_call_that_the_tool_can_answer_passes() -> None:
    check_tool_call(message("TC", tool_name="search", arguments={"q": "x", "max": 1}), TOOLS)
    check_tool_call(message("TC", tool_name="now"), {"now": ToolSignature()})


def test_a_call_of_an_unknown_tool_is_refused_e4001() -> None:
    assert code_of(check_tool_call, message("TC", tool_name="find"), TOOLS) == "E4001"
    assert code_of(check_tool_call, message("TC"), TOOLS) == "E4001"


@pytest.mark.parametrize("arguments", [{}, {"q": 1, "page": 2}, ["q"], "q"])
def test_arguments_that_are_not_the_tools_are_refused_e4003(arguments: Any) -> None:
    assert code_of(check_tool_call, message("TC", tool_name="search", arguments=arguments), TOOLS) == "E4003"


def test_an_answer_is_correlated_by_the_chain_else_by_the_request() -> None:
    assert reply_correlation(Envelope(msg_id="m", correlation_id="c")) == "c"
    assert reply_correlation(Envelope(msg_id="m")) == "m"
    assert reply_correlation(Envelope()) is None


@pytest.mark.parametrize("code", ErrorCode)
def test_an_error_frame_is_written_and_read_with_the_retry_rule_of_its_code(code: ErrorCode) -> None:
    failure = error_message("a", code, "why", correlation_id="m1")
    assert (failure.intent, failure.operation, failure.schema) == ("fail", "error", "ER")
    assert failure.envelope == Envelope(correlation_id="m1")
    assert read_error(failure) == ErrorReport(code=code.value, message="why", retryable=code.retryable)


def test_a_failed_tool_answers_with_e4002() -> None:
    request = enveloped(message("TC", tool_name="search"), msg_id="m1")
    failure = tool_error("tool", request, "no network", detail={"host": "x"})
    report = read_error(failure)
    assert failure.envelope.correlation_id == "m1"
    assert report == ErrorReport(code="E4002", message="no network", retryable=True, detail={"host": "x"})


def test_what_is_no_error_frame_reports_nothing() -> None:
    assert read_error(message("ER")) is None
    assert read_error(message(None, Intent.FAILURE, code="E3001")) is None


@pytest.mark.parametrize(("code", "retryable"), [("E3001", True), ("E1001", False), ("E7777", False)])
def test_an_error_that_does_not_tell_is_retryable_when_table_6_says_so(code: str, retryable: bool) -> None:
    report = read_error(message("ER", Intent.FAILURE, code=code))
    assert report == ErrorReport(code=code, message="", retryable=retryable)


def test_an_error_without_code_is_internal() -> None:
    report = read_error(message("ER", Intent.FAILURE))
    assert report == ErrorReport(code="E9999", message="", retryable=True)
