"""Arguments that have no text."""

from decimal import Decimal
from typing import Any

import pytest

from accp_core.aacp import DRAFT_VOCABULARY, encode_packet, validate
from accp_core.errors import EncodeError


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), pytest.param(10**5000, id="digits"), True, b"x", object(), {"a": 1}],
)
def test_what_has_no_text_is_refused_by_name(value: Any) -> None:
    with pytest.raises(EncodeError, match="E1004: amt: "):
        encode_packet("PROC", "FIN", return_agent="A", amt=value)


def test_a_vocabulary_has_keys_of_its_own() -> None:
    own = DRAFT_VOCABULARY.adding(keys=["site"])
    assert str(encode_packet("ACK", "IT", return_agent="A", vocabulary=own, site="x")).endswith("|site:x")


def test_a_key_of_an_organisation_may_hold_a_list() -> None:
    assert encode_packet("ACK", "IT", return_agent="A", org_tags=["a", 1]).fields["org_tags"] == "a,1"


@pytest.mark.requirement("aacp:4.2-5", "aacp:9-1")
def test_a_list_of_fields_is_left_out_where_the_receiver_has_its_own() -> None:
    assert "fields" not in encode_packet("FETCH", "HR", return_agent="A", res="r", fields=None).fields
    assert encode_packet("FETCH", "HR", return_agent="A", res="r", fields=["a", "b"]).fields["fields"] == "a,b"


@pytest.mark.requirement("aacp:4.2-4")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("period", "2024-13"),
        ("period", "2024-00"),
        ("period", "2024-Q5"),
        ("period", "2024-02-30"),
        ("period", "20240229"),
        ("period", "August 2024"),
        ("period", "٢٠٢٤-٠٨"),
        ("ccy", "POUNDS"),
        ("ccy", "£"),
        ("amt", "about 4,000"),
        ("amt", "4200 GBP"),
    ],
)
def test_a_value_of_a_typed_field_that_is_none_is_refused_and_warned_about(key: str, value: str) -> None:
    with pytest.raises(EncodeError, match=f"E1004: {key}: expected a") as refusal:
        encode_packet("PROC", "FIN", return_agent="A", res="r", **{key: value})
    assert repr(value) in str(refusal.value)
    report = validate(f"PROC|FIN|return:A|p:1|aacp:1.1|res:r|{key}:{value}")
    assert [(found.code, found.field) for found in report.warnings] == [("unexpected-value", key)]


def test_a_priority_that_is_none_is_refused() -> None:
    with pytest.raises(EncodeError, match="E1004: priority: expected one of 1, 2, 3, found '9'"):
        encode_packet("ACK", "HR", return_agent="A", priority=9)


@pytest.mark.requirement("aacp:15-7")
@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("res", {"res": "mail ana@example.com"}),
        ("req", {"req": ("call", "+44 20 7946 0958")}),
        ("return", {"return_agent": "ana@example.com"}),
        ("TASK", {"task": "MAIL ana@example.com"}),
        ("org_token", {"org_token": "abcdef123456"}),
    ],
)
def test_personal_data_is_refused_wherever_it_stands_and_named_by_the_validator(
    field: str, arguments: dict[str, Any]
) -> None:
    given = {"task": "PROC", "domain": "IT", "return_agent": "A", **arguments}
    with pytest.raises(EncodeError, match=f"E1004: {field}: holds") as refusal:
        encode_packet(**given)
    assert "example" not in str(refusal.value)
    allowed = encode_packet(**given, guard=None)
    assert [found.field for found in validate(allowed).warnings if found.code in ("personal-data", "credential")] == [
        field
    ]
