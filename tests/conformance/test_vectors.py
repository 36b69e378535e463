"""Every vector of every family, in every mode that it does not exclude."""

from decimal import Decimal
from typing import Any

import pytest

from accp_core import DecodeError, EncodeError, parse_frame, serialize_frame
from tests.conformance.vectors import build_frame, exact, load

MODES: dict[str, dict[str, Any]] = {"strict": {"strict": True}, "errata": {}, "compat": {"compat": True}}

EMPTY = {"sender": "a", "intent": "req", "operation": "op"}


def modes(vector: dict[str, Any]) -> list[str]:
    return [vector["mode"]] if "mode" in vector else ["strict", "errata"]


@pytest.mark.requirement("4.3-1", cases="3.1-frame: an operation nobody registered]")
@pytest.mark.requirement("8.1-1")
@pytest.mark.parametrize("vector", load("accp", "parse"))
def test_an_accepted_text_says_this_frame(vector: dict[str, Any]) -> None:
    for mode in modes(vector):
        for kind in (float, Decimal):
            frame = parse_frame(vector["text"], decimal_type=kind, **MODES[mode])
            assert exact(frame) == exact(build_frame(vector["frame"], kind))


@pytest.mark.requirement("8.1-1")
@pytest.mark.parametrize("vector", [vector for vector in load("accp", "parse") if "canonical" in vector.values[0]])
def test_an_accepted_frame_is_written_canonically(vector: dict[str, Any]) -> None:
    for mode in modes(vector):
        assert serialize_frame(parse_frame(vector["text"], **MODES[mode])) == vector["canonical"]


@pytest.mark.requirement("3.3-1", "9-2", "9-3", "9-6")
@pytest.mark.parametrize("vector", load("accp", "refuse"))
def test_a_refused_text_is_refused_with_this_code_at_this_place(vector: dict[str, Any]) -> None:
    for mode in modes(vector):
        with pytest.raises(DecodeError) as refusal:
            parse_frame(vector["text"], **MODES[mode])
        assert (refusal.value.code, refusal.value.position) == (vector["error"], vector["position"])
        assert refusal.value.text == vector["text"]


@pytest.mark.requirement("3.1.1-1", "3.1.1-2", cases="3.1.1-numbers")
@pytest.mark.requirement("3.3-1", cases="3.1.1-strings")
@pytest.mark.requirement("3.3-6", cases="3.1-values")
@pytest.mark.requirement("8.1-1")
@pytest.mark.parametrize("vector", load("accp", "values"))
def test_a_value_is_written_and_read_as_this_text(vector: dict[str, Any]) -> None:
    for kind in (float, Decimal):
        frame = build_frame({**EMPTY, "params": {"k": vector["value"]}}, kind)
        wire, ascii_wire = vector["wire"], vector.get("ascii", vector["wire"])
        assert serialize_frame(frame) == f"@a>req:op{{k:{wire}}}"
        assert serialize_frame(frame, ascii_only=True) == f"@a>req:op{{k:{ascii_wire}}}"
        for text in (wire, ascii_wire):
            for strict in (True, False):
                read = parse_frame(f"@a>req:op{{k:{text}}}", strict=strict, decimal_type=kind)
                assert exact(read.params) == exact(frame.params)


@pytest.mark.requirement("3.1.1-1", cases="3.1.1-numbers")
@pytest.mark.requirement("8.1-1")
@pytest.mark.parametrize("vector", load("accp", "serialize"))
def test_a_frame_is_written_as_this_text(vector: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        text = serialize_frame(
            build_frame(vector["frame"]), ascii_only=ascii_only, decimal=vector.get("decimal", "exact")
        )
        assert text == vector["text"]
    if "decimal" not in vector:
        assert exact(parse_frame(text, strict=True)) == exact(build_frame(vector["frame"]))


@pytest.mark.requirement("8.1-1")
@pytest.mark.parametrize("vector", load("accp", "unserializable"))
def test_a_frame_that_has_no_text_is_refused_with_this_code(vector: dict[str, Any]) -> None:
    with pytest.raises(EncodeError) as refusal:
        serialize_frame(build_frame(vector["frame"]))
    assert refusal.value.code == vector["error"]
