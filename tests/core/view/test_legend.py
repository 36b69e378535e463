"""The one line that explains what a view has and JSON has not."""

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import render
from accp_core.view import legend_for
from accp_core.view.legend import LEGEND, explanations
from tests.core.view.payloads import PAYLOADS

counter = o200k_base()


def test_what_the_reader_knows_is_not_explained_again() -> None:
    view = "[2] id, (kind=x)\n1\n-"
    assert explanations(view) == ["a comma ends a cell", "(k=v) in every row", "- absent"]
    assert legend_for(view, known={"- absent", "a comma ends a cell"}) == "Notation: (k=v) in every row."
    assert legend_for(view, known=explanations(view)) == ""


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_legend_is_one_line_of_less_than_a_hundred_tokens(name: str) -> None:
    legend = legend_for(render(PAYLOADS[name][0], counter=counter))
    assert "\n" not in legend
    assert counter(legend) < 100


def test_the_whole_legend_is_one_short_line() -> None:
    assert "\n" not in LEGEND
    assert counter(LEGEND) < 50


def test_a_long_text_without_a_header_is_looked_through_in_one_pass() -> None:
    assert legend_for("[1] " * 50_000) == ""
    assert legend_for("[: " * 50_000) == ""
