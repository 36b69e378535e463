"""The counter of the extra `fast` counts as tiktoken does, where it is used."""

import json
import math
import sys
import types

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accp_adapters.tokens import counters, o200k_base_encoding
from accp_adapters.tokens.counters import OTHER_CHARACTERS, fast_count
from tests.properties.json_values import values

ASCII = [chr(code) for code in range(128)]
KNOWN = [sign for sign in map(chr, range(0x2060)) if not OTHER_CHARACTERS.search(sign)]


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    pytest.importorskip("quicktok")


def fast_counter() -> counters._O200kCounter:
    """Return a counter that uses quicktok from its second text on."""
    counter = counters._O200kCounter(fast_after=1)
    counter("two words")
    assert counter._fast is not None
    return counter


def slow_count(text: str) -> int:
    return len(o200k_base_encoding().encode_ordinary(text))


def test_each_pair_of_ascii_characters_has_as_many_tokens() -> None:
    count = fast_count()
    assert count is not None
    for text in (f"a{one}{two}B" for one in ASCII for two in ASCII):
        assert count(text) == slow_count(text), repr(text)


@given(st.lists(st.sampled_from([*KNOWN, "  ", "don't", "WE'LL", "12345", "\r\n", "camelCase"])).map("".join))
@example("<|endoftext|>")
@example("\x00 \x7f")
def test_texts_of_known_characters_have_as_many_tokens(text: str) -> None:
    count = fast_count()
    assert count is not None
    assert count(text) == slow_count(text)


@given(st.text() | values.map(json.dumps))
@example("\ud800 half a pair")
@example("\u017f's \u0294'\u017f")
def test_a_counter_that_uses_it_counts_any_text_as_tiktoken_does(text: str) -> None:
    assert fast_counter()(text) == slow_count(text)


def test_long_runs_of_blanks_are_cut_as_without_it() -> None:
    text = f"a{' ' * 250_000}b"
    assert fast_counter()(text) == counters._O200kCounter(fast_after=math.inf)(text)


def test_it_is_loaded_after_many_characters_only() -> None:
    counter = counters._O200kCounter(counters.CHARS_BEFORE_FAST)
    counter("a short text")
    assert counter._fast is None
    assert fast_counter()("a short text") == 3


def test_it_is_loaded_at_once_where_that_is_asked_for() -> None:
    counter = counters.o200k_base(fast_after=0)
    assert isinstance(counter, counters._O200kCounter)
    assert counter._fast is fast_count()
    assert counter("a short text") == 3


class OtherEncoding:
    """Gives tokens of its own."""

    def encode_ordinary(self, text: str) -> list[int]:
        return [*text.encode()]

    def count(self, text: str) -> int:
        return len(text)


def test_another_package_of_its_name_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    other = types.ModuleType("quicktok")
    monkeypatch.setitem(sys.modules, "quicktok", other)
    assert counters.fast_count.__wrapped__() is None
    other.get_encoding = lambda name: OtherEncoding()  # type: ignore[attr-defined]  # a module that is made here
    assert counters.fast_count.__wrapped__() is None


def test_without_it_tiktoken_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quicktok", None)
    monkeypatch.setattr(counters, "fast_count", counters.fast_count.__wrapped__)
    counter = counters._O200kCounter(fast_after=1)
    assert [counter("two words"), counter("two words")] == [2, 2]
    assert counter._fast is None
