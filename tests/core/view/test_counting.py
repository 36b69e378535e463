"""How much text a view has counted, which takes a third of the time of rendering."""

from __future__ import annotations

import json
import random

import pytest

from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from accp_core.view import render, render_text
from accp_core.view.render import is_longer
from tests.bench.made_payloads import MADE_PAYLOADS


class Counter:
    """Counts tokens, and the characters that it is given."""

    def __init__(self) -> None:
        self.characters = 0

    def __call__(self, text: str) -> int:
        self.characters += len(text)
        return count_o200k(text)


def made(name: str) -> object:
    return MADE_PAYLOADS[name](random.Random(name))


def test_of_most_payloads_the_view_and_half_of_the_json_are_counted() -> None:
    counter, sizes = Counter(), 0
    for name in MADE_PAYLOADS:
        value = made(name)
        counter.characters -= len(render(value, counter=counter))
        sizes += len(compact_json(value))
    assert counter.characters < 0.7 * sizes


@pytest.mark.parametrize("name", ["pods", "wide", "time series"])
def test_a_source_that_is_compact_json_is_counted_once(name: str) -> None:
    counter, source = Counter(), compact_json(made(name))
    view = render_text(source, counter=counter)
    # The strings of some values are counted, too, to decide whether they are written once.
    assert counter.characters <= 1.1 * (len(source) + len(view.text))


def test_a_text_is_counted_to_its_end_before_any_part_is_counted_again() -> None:
    counter, view = Counter(), "a b c d e f g " * 40
    text = json.dumps(["abcdefgh"] * 80)
    assert is_longer(text, view, counter=counter) == (count_o200k(text) > count_o200k(view))
    assert counter.characters <= len(view) + 2 * len(text)


@pytest.mark.parametrize("text", ["", "[]", "[1,2,3]", '["a","b"]', '"' * 40, "7" * 4_000, '["' + "x" * 900 + '"]'])
@pytest.mark.parametrize("view", ["", "a", "1 2 3", "b " * 30])
def test_any_two_texts_are_compared_as_by_counting_both(text: str, view: str) -> None:
    assert is_longer(text, view, counter=count_o200k) == (count_o200k(text) > count_o200k(view))
