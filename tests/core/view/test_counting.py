"""How much text a view has counted, which takes a third of the time of rendering."""

from __future__ import annotations

import json
import random

import pytest

from accp_adapters.tokens import count_o200k, o200k_base
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.token_counts import RememberingCounter, has_tokens, is_longer
from accp_core.view import render
from tests.harness.bench.made_payloads import MADE_PAYLOADS


class Counter:
    """Counts tokens, and the characters that it is given."""

    def __init__(self) -> None:
        self.characters = 0

    def __call__(self, text: str) -> int:
        self.characters += len(text)
        return count_o200k(text)


class Bounded(Counter):
    """Knows a bound, too."""

    at_least = o200k_base().at_least


def made(name: str) -> object:
    return MADE_PAYLOADS[name](random.Random(name))


def test_of_most_payloads_the_view_and_half_of_the_json_are_counted() -> None:
    counter, sizes = Counter(), 0
    for name in MADE_PAYLOADS:
        value = made(name)
        counter.characters -= len(render(value, counter=counter))
        sizes += len(compact_json(value))
    assert counter.characters < 0.7 * sizes


def test_a_text_is_counted_to_its_end_before_any_part_is_counted_again() -> None:
    counter, view = Counter(), "a b c d e f g " * 40
    text = json.dumps(["abcdefgh"] * 80)
    assert is_longer(text, view, counter=counter) == (count_o200k(text) > count_o200k(view))
    assert counter.characters <= len(view) + 2 * len(text)


@pytest.mark.parametrize("text", ["", "[]", "[1,2,3]", '["a","b"]', '"' * 40, "7" * 4_000, '["' + "x" * 900 + '"]'])
@pytest.mark.parametrize("view", ["", "a", "1 2 3", "b " * 30])
def test_any_two_texts_are_compared_as_by_counting_both(text: str, view: str) -> None:
    assert is_longer(text, view, counter=count_o200k) == (count_o200k(text) > count_o200k(view))
    assert is_longer(text, view, counter=o200k_base()) == (count_o200k(text) > count_o200k(view))


@pytest.mark.parametrize("text", ["", "a", "a b c d e f g h", "word " * 40, "x" * 400])
@pytest.mark.parametrize("tokens", [0, 1, 8, 9, 40, 41])
@pytest.mark.parametrize("counter", [count_o200k, o200k_base(), RememberingCounter(o200k_base())])
def test_a_text_has_the_tokens_that_it_is_counted(text: str, tokens: int, counter: TokenCounter) -> None:
    assert has_tokens(text, tokens, counter=counter) == (count_o200k(text) >= tokens)


def test_a_long_text_of_sure_tokens_is_not_counted() -> None:
    counter = Bounded()
    assert has_tokens("some words " * 40, 8, counter=RememberingCounter(counter))
    assert counter.characters == 0
