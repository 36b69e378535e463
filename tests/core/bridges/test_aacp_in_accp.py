"""Packets as requests, there and back through a codec."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core.aacp import FallbackEncoder, InstructionRegistry, Packet, PayrollEncoder, parse_packet
from accp_core.accp import PRACTICAL_LIMITS, Codec, Intent, Message, Ref, serialize_frame
from accp_core.bridges.aacp_in_accp import AACP_SCHEMA, instruction_to_message, message_to_packet, packet_to_message
from accp_core.errors import EncodeError, ProtocolError
from tests.conformance.vectors import load

CODEC = Codec(counter=o200k_base(), limits=PRACTICAL_LIMITS).register_schema(AACP_SCHEMA.name, AACP_SCHEMA)
PLAIN = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="|"), max_size=20).filter(
    lambda text: text == text.strip()
)
KEYS = PLAIN.filter(lambda text: text and ":" not in text and text != "dom")


def sent(packet: Packet) -> str:
    (frame,) = CODEC.encode(packet_to_message(packet, sender="ORCH")).frames
    return serialize_frame(frame)


def received(text: str) -> Packet:
    message = CODEC.decode(text)
    assert isinstance(message, Message)
    return message_to_packet(message)


def test_a_packet_is_a_short_request() -> None:
    text = sent(
        parse_packet("FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fields:id,dept|amt:4200|fmt:json|src:hr")
    )
    assert text == (
        "@ORCH>req:FETCH{dom:HR|return:HR-Agent|p:1|res:emp_salary|fields:[id,dept]|fmt:json|src:hr|amt:4200|schema:AP}"
    )


@pytest.mark.parametrize("vector", [*load("aacp", "steps"), *load("aacp", "rules")])
def test_the_packets_of_the_vectors_come_back(vector: dict[str, Any]) -> None:
    assert str(received(sent(parse_packet(vector["text"])))) == vector["text"]


@given(
    task=st.from_regex(r"[A-Za-z0-9_]{1,10}", fullmatch=True),
    domain=KEYS,
    fields=st.dictionaries(KEYS, PLAIN | st.from_regex(r"-?[0-9]{1,20}(,[0-9a]{0,3})*", fullmatch=True), max_size=6),
    required=st.fixed_dictionaries({"return": KEYS, "p": PLAIN, "aacp": KEYS}),
)
def test_any_valid_packet_comes_back(task: str, domain: str, fields: dict[str, str], required: dict[str, str]) -> None:
    packet = Packet(task=task, domain=domain, fields={**fields, **required})
    message = packet_to_message(packet, sender="A")
    assert message_to_packet(message) == packet
    encoded = CODEC.encode(message)
    if len(encoded.frames) == 1:
        assert received(serialize_frame(encoded.frames[0])) == packet


def test_a_packet_without_priority_says_medium() -> None:
    assert received(sent(parse_packet("ACK|HR|return:A|aacp:1.1"))).fields["p"] == "2"


def test_an_instruction_in_english_goes_through_the_codec() -> None:
    message = instruction_to_message(
        "Please retrieve active employee salary records for 2024-08 as JSON.",
        encoder=FallbackEncoder(InstructionRegistry()),
        sender="ORCH",
        domain="HR",
        return_agent="HR-Agent",
        priority="1",
    )
    (frame,) = CODEC.encode(message).frames
    assert received(serialize_frame(frame)) == PayrollEncoder().fetch_employees("2024-08")


@pytest.mark.parametrize("answer", ["Sorry.", "FETCH|HR|res:x", "FETCH|HR|return:A|return:B|aacp:1.1"])
def test_an_answer_that_is_no_packet_is_not_sent(answer: str) -> None:
    with pytest.raises(EncodeError, match="expected a valid packet"):
        instruction_to_message("Do it", encoder=lambda text, **_: answer, sender="A", domain="HR", return_agent="A")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("FETCH|HR|aacp:1.1", "E1001: expected a valid packet: return: is missing"),
        ("DO-IT|HR|return:A|aacp:1.1", "E1004: expected a TASK that is an operation"),
        (
            "FETCH|HR|return:A|aacp:1.1|dom:FIN",
            "found 'FETCH' with return, p, aacp, dom",
        ),
    ],
)
def test_what_no_request_says_is_refused(text: str, reason: str) -> None:
    with pytest.raises(EncodeError, match=reason):
        packet_to_message(parse_packet(text), sender="A")


def request(payload: dict[str, Any], **changes: Any) -> Message:
    fields = {"dom": "HR", "return": "A", "aacp": "1.1", **payload}
    return Message(
        **{"sender": "B", "intent": Intent.REQUEST, "operation": "FETCH", "payload": fields, "schema": "AP", **changes}
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (request({}, schema=None), "E1003: expected schema AP, found None"),
        (request({}, intent=Intent.COMPLETE), "E1002: expected a request, found 'done'"),
        (request({"amt": 4200.5}), "E1004: amt: expected text or whole numbers, found 4200.5"),
        (request({"amt": True}), "E1004: amt"),
        (request({"amt": None}), "E1004: amt"),
        (request({"amt": {"x": 1}}), "E1004: amt"),
        (request({"amt": []}), "E1004: amt"),
        (request({"fields": [["a"]]}), "E1004: fields"),
        (request({"data_ptr": Ref("cold.x")}), "E1004: data_ptr"),
        (request({"res": "x|return:EVIL"}), "E1001: expected a valid packet"),
        (request({"dom": ""}), "E1001: expected a valid packet"),
        (request({"return": ""}), "E1001: expected a valid packet: return: is empty"),
    ],
)
def test_a_message_that_says_no_packet_is_refused(message: Message, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        message_to_packet(message)
