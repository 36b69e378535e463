"""Every vector of AACP: packets, arguments, workflows, reports."""

from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.aacp import (
    ContractEncoder,
    InvoiceEncoder,
    ITEncoder,
    Packet,
    PayrollEncoder,
    encode_packet,
    parse_packet,
    serialize_packet,
    validate,
)
from accp_core.errors import DecodeError, EncodeError
from tests.conformance.vectors import build_value, load

ENCODERS: dict[str, Any] = {
    each.__name__: each() for each in (PayrollEncoder, ITEncoder, InvoiceEncoder, ContractEncoder)
}


def arguments(vector: dict[str, Any]) -> dict[str, Any]:
    return build_value(vector["arguments"])  # type: ignore[no-any-return]  # a mapping stays one


def step(vector: dict[str, Any]) -> Any:
    return getattr(ENCODERS[vector["encoder"]], vector["step"])


def made(vector: dict[str, Any]) -> Any:
    return step(vector)(**arguments(vector)) if "step" in vector else encode_packet(**arguments(vector))


@pytest.mark.requirement("aacp:4-1", "aacp:4.3-1", cases="4-packet")
@pytest.mark.requirement("aacp:4.4-1", cases="4-packet: 4.4")
@pytest.mark.requirement("aacp:5.1-2", cases="4-packet: unknown words, own keys after the known ones]")
@pytest.mark.requirement("aacp:7-13", cases="4-packet: an empty value]")
@pytest.mark.parametrize("vector", load("aacp", "packets"))
def test_a_text_says_this_packet_and_is_written_canonically(vector: dict[str, Any]) -> None:
    packet = Packet(task=vector["task"], domain=vector["domain"], fields=vector["fields"])
    assert parse_packet(vector["text"]) == packet
    assert serialize_packet(packet) == str(packet) == vector["canonical"]
    assert parse_packet(vector["canonical"]) == packet


@pytest.mark.requirement("aacp:4-1", cases="4-packet: a field without colon]")
@pytest.mark.requirement("aacp:4-1", cases="4-packet: no key]")
@pytest.mark.requirement("aacp:4-2", cases="4-packet: an empty slot")
@pytest.mark.requirement("aacp:4.1-1", cases="4-packet: no TASK]")
@pytest.mark.requirement("aacp:4.1-3", cases="4-packet: no DOM]")
@pytest.mark.parametrize("vector", load("aacp", "refuse"))
def test_a_refused_text_is_refused_with_this_code_at_this_place(vector: dict[str, Any]) -> None:
    with pytest.raises(DecodeError) as refusal:
        parse_packet(vector["text"])
    assert (refusal.value.code, refusal.value.position) == (vector["error"], vector["position"])
    assert not validate(vector["text"]).valid


@pytest.mark.requirement(
    "aacp:4.1-2", "aacp:4.1-4", "aacp:4.2-3", "aacp:4.2-4", "aacp:6.1-1", "aacp:6.1-2", "aacp:14-1", cases="6.1"
)
@pytest.mark.parametrize("vector", [*load("aacp", "rules"), *load("aacp", "steps")])
def test_these_arguments_give_this_packet(vector: dict[str, Any]) -> None:
    packet = made(vector)
    assert str(packet) == vector["text"]
    assert "tokens" not in vector or o200k_base()(str(packet)) == vector["tokens"]
    assert validate(packet).packet == parse_packet(str(packet)) == packet


@pytest.mark.parametrize("vector", load("aacp", "no_arguments"))
def test_an_argument_that_would_have_no_effect_is_not_accepted(vector: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        made(vector)


@pytest.mark.parametrize("vector", load("aacp", "unencodable_arguments"))
def test_a_value_that_a_packet_would_say_differently_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(EncodeError) as refusal:
        made(vector)
    assert refusal.value.code == "E1004"


@pytest.mark.requirement("aacp:4-2", cases="7-validation: an empty slot]")
@pytest.mark.requirement("aacp:4.1-1", "aacp:7-1", cases="7-validation: no TASK]")
@pytest.mark.requirement("aacp:4.1-3", "aacp:7-2", cases="7-validation: no DOM]")
@pytest.mark.requirement("aacp:4.2-1", "aacp:7-3", cases="7-validation: no agent]")
@pytest.mark.requirement("aacp:4.2-1", cases="7-validation: positional fields only]")
@pytest.mark.requirement("aacp:4.2-2", "aacp:7-4", "aacp:14-1", cases="7-validation: no version]")
@pytest.mark.requirement("aacp:4.2-2", cases="7-validation: an empty version]")
@pytest.mark.requirement("aacp:4.2-4", "aacp:7-6", cases="7-validation: no priority]")
@pytest.mark.requirement("aacp:4.3-2", "aacp:7-10", cases="7-validation: an organisation's key]")
@pytest.mark.requirement("aacp:4.3-2", cases="7-validation: a key that only the reference has]")
@pytest.mark.requirement("aacp:4.4-1", cases="7-validation: 4.4")
@pytest.mark.requirement(
    "aacp:5.1-1", "aacp:5.1-2", "aacp:7-1", "aacp:7-5", "aacp:7-13", cases="7-validation: an unknown TASK]"
)
@pytest.mark.requirement("aacp:5.1-1", cases="7-validation: lower case]")
@pytest.mark.requirement("aacp:5.2-2", "aacp:7-2", "aacp:7-5", cases="7-validation: an unknown DOM]")
@pytest.mark.requirement("aacp:5.3-1", cases="7-validation: an unknown priority]")
@pytest.mark.requirement("aacp:5.3-1", cases="7-validation: an empty priority]")
@pytest.mark.requirement("aacp:7-3", cases="7-validation: an empty agent]")
@pytest.mark.requirement("aacp:7-7", "aacp:14-2", "aacp:14-3", cases="7-validation: a later version]")
@pytest.mark.requirement("aacp:7-8", cases="7-validation: sentiment without tone]")
@pytest.mark.requirement("aacp:7-8", cases="7-validation: sentiment with tone]")
@pytest.mark.requirement("aacp:7-9", cases="7-validation: lifetime value without currency]")
@pytest.mark.requirement("aacp:7-9", cases="7-validation: lifetime value with currency]")
@pytest.mark.requirement("aacp:14-2", cases="7-validation: the version of")
@pytest.mark.requirement("aacp:15-7", cases="15-guard")
@pytest.mark.parametrize("vector", load("aacp", "validations"))
def test_a_validator_reports_exactly_this(vector: dict[str, Any]) -> None:
    report = validate(vector["text"])
    for name in ("errors", "warnings"):
        found = [{"code": finding.code.value, "field": finding.field} for finding in getattr(report, name)]
        assert found == vector[name]
        assert all(finding.reason for finding in getattr(report, name))
    assert report.valid == (not vector["errors"]) == (report.packet is not None)
