"""Texts as bytes: nothing is lost, and nothing expands without a bound."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from accp_adapters.stores.texts import encode_name, item_filter, pack_text, read_item, unpack_text, write_item
from accp_core.errors import ProtocolError
from accp_core.references import key_of, short_key


@pytest.mark.parametrize("text", ["", "rows", "ünï\0\x1b", "half of a pair: \ud800", "x" * 300_000])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert unpack_text(pack_text(text)) == text


def test_a_text_up_to_the_limit_is_read_and_a_longer_one_is_refused() -> None:
    packed = zlib.compress(b"x" * 1_001)
    assert unpack_text(packed, limit=1_001) == "x" * 1_001
    with pytest.raises(ProtocolError, match="E2003: expected a text of at most 1,000 bytes, found more"):
        unpack_text(packed, limit=1_000)


def test_what_could_not_be_read_is_not_stored() -> None:
    assert pack_text("é" * 500, limit=1_000)
    with pytest.raises(ProtocolError, match="E2003: expected a text of at most 1,000 bytes, found 1,001 bytes"):
        pack_text("é" * 500 + "x", limit=1_000)


def test_a_bomb_does_not_expand() -> None:
    packed = zlib.compress(b"\0" * 10_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ProtocolError, match="E2003"):
            unpack_text(packed, limit=100_000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "packed", [b"", b"no zlib", pack_text("rows")[:-1], zlib.compress(b"\xff")], ids=["empty", "other", "cut", "bytes"]
)
def test_other_bytes_are_refused(packed: bytes) -> None:
    with pytest.raises(ProtocolError, match="E2001: expected a stored text, found other bytes"):
        unpack_text(packed)


def test_a_name_may_hold_any_character() -> None:
    assert encode_name("ü\ud800") == b"\xc3\xbc\xed\xa0\x80"


@pytest.mark.parametrize("text", ["rows", "", "\0", "\ud800", '"quoted"'])
def test_an_item_holds_any_text(text: str) -> None:
    key = key_of(text)
    assert read_item(write_item(key, text)) == text
    assert read_item({"text": write_item(key, text)["text"]}) == text
    assert write_item(key, text).items() >= item_filter(short_key(key)).items()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        [],
        {},
        {"text": 1},
        {"text": "no JSON"},
        {"text": "[]"},
        {"text": '"a"', "version": "2"},
        {"text": '"a"', "version": 2},
    ],
    ids=repr,
)
def test_another_item_is_refused(value: object) -> None:
    with pytest.raises(ProtocolError, match=r"E2001: expected an item (with a text|of version 1 or lower)") as caught:
        read_item(value)
    assert repr(str(value)[:80]) in str(caught.value)
