"""What holds of every frame and of every text."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accp_core import DecodeError, Frame, parse_frame, serialize_frame
from tests.conformance.vectors import exact, load
from tests.properties.abnf import is_frame
from tests.properties.strategies import ascii_texts, decimals, frames, texts

ascii_frames = frames(texts=ascii_texts)


@pytest.mark.requirement("8.1-1")
@pytest.mark.slow
@given(frames(), st.booleans())
def test_a_frame_survives_type_for_type_strictly_and_with_errata(frame: Frame, strict: bool) -> None:
    assert exact(parse_frame(serialize_frame(frame), strict=strict)) == exact(frame)


@pytest.mark.requirement("8.1-1")
@pytest.mark.slow
@given(ascii_frames, st.booleans())
def test_a_frame_survives_in_ascii(frame: Frame, strict: bool) -> None:
    assert exact(parse_frame(serialize_frame(frame, ascii_only=True), strict=strict)) == exact(frame)


@pytest.mark.slow
@given(frames(numbers=decimals))
def test_decimals_survive_where_decimals_are_wanted(frame: Frame) -> None:
    assert exact(parse_frame(serialize_frame(frame), decimal_type=Decimal)) == exact(frame)


@given(ascii_frames, st.booleans())
def test_a_text_that_was_written_is_written_again_byte_for_byte(frame: Frame, ascii_only: bool) -> None:
    text = serialize_frame(frame, ascii_only=ascii_only)
    assert serialize_frame(parse_frame(text), ascii_only=ascii_only) == text


@pytest.mark.requirement("3.1.1-1")
@given(ascii_frames)
def test_rounded_decimals_stay_rounded(frame: Frame) -> None:
    text = serialize_frame(frame, decimal="round6")
    assert serialize_frame(parse_frame(text), decimal="round6") == text


@pytest.mark.requirement("3.3-1")
@pytest.mark.slow
@given(ascii_frames)
def test_what_is_written_in_ascii_is_literal_abnf(frame: Frame) -> None:
    assert is_frame(serialize_frame(frame, ascii_only=True))


@pytest.mark.requirement("9-3")
@given(texts)
@example("@a>req:op{k:" + "[" * 10_000)
@example('@a>req:op{k:="' + '\\\\"' * 10_000)
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    options: dict[str, Any]
    for options in ({"strict": True}, {}, {"compat": True}, {"decimal_type": Decimal}):
        try:
            parse_frame(text, **options)
        except DecodeError as refusal:
            assert 0 <= refusal.position <= len(text)
            assert refusal.code in {"E1001", "E1002", "E1004"}


@pytest.mark.requirement("9-2")
@given(texts)
def test_what_is_read_strictly_is_read_alike_with_errata(text: str) -> None:
    try:
        strictly = parse_frame(text, strict=True)
    except DecodeError:
        return
    if strictly.intent != "sync":
        assert exact(parse_frame(text)) == exact(strictly)


@pytest.mark.requirement("9-2")
@pytest.mark.parametrize("vector", load("accp", "parse"))
def test_the_recogniser_knows_every_ascii_frame_that_is_read_strictly(vector: dict[str, Any]) -> None:
    accepted = vector["text"].isascii() and vector.get("mode", "strict") == "strict"
    assert is_frame(vector["text"]) or not accepted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@a>req:op{k:}",
        "@a>req:op{k:a b}",
        "@a>req:op{k:@b}",
        "@a>req:op{k:[a:b]}",
        "@a>req:op{}[]",
        "@a>req:op{k:é}",
    ],
)
def test_the_recogniser_knows_what_is_no_frame(text: str) -> None:
    assert not is_frame(text)
