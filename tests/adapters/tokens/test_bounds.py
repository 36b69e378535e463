"""The bound of a count is never above the count, also where the text goes on."""

import json
import random
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_adapters.tokens.counters import at_least_o200k
from accp_core.strict_json import compact_json
from tests.harness.bench.made_payloads import MADE_PAYLOADS
from tests.properties.json_values import values

KINDS = ["a", "S", "l", "'", '"', "/", "\n", "\r", " ", "\t", "0", "7", "\u0301", "\u0663", "\u00a0", "\u65e5", "\x1c"]
"""Letters, among them those of `'s` and `'ll`, signs, line breaks, blanks, digits, a mark, and some beyond ASCII."""
AROUND = ["{}", "a{}b", "'{}L", "0{}0", " {} ", "\n{}\n", '"{}/a', "\n/{}a"]
count = o200k_base()


def check(text: str) -> None:
    tokens = count(text)
    for end in range(len(text) + 1):
        assert at_least_o200k(text[:end]) <= tokens, (text[:end], text)


def test_no_text_of_three_characters_has_fewer_tokens() -> None:
    for text in map("".join, product(KINDS, repeat=3)):
        check(text)


def test_no_pair_of_ascii_characters_has_fewer_tokens_in_other_text() -> None:
    pick = random.Random(1)
    pairs = ["".join(pair) for pair in product(map(chr, range(128)), repeat=2)]
    for around in AROUND:
        for text in map(around.format, pick.sample(pairs, 1_500)):
            assert at_least_o200k(text) <= count(text), text


@given(st.lists(st.sampled_from(KINDS), max_size=30).map("".join) | st.text() | values.map(json.dumps))
@example("it'Ll'S\"'\"s1'd")
@example('}\n//a}\n/"a}/\r"a')
@example("\ud800a\udc00 0\ud8000")
def test_no_text_has_fewer_tokens(text: str) -> None:
    check(text)


@pytest.mark.parametrize("name", MADE_PAYLOADS)
def test_of_json_most_tokens_are_sure(name: str) -> None:
    text = compact_json(MADE_PAYLOADS[name](random.Random(name)))
    assert count(text) >= at_least_o200k(text) > 0.8 * count(text)


def test_an_empty_text_has_no_token() -> None:
    assert (at_least_o200k(""), at_least_o200k("\u65e5")) == (0, 1)
