"""The one line that explains what a view has and JSON has not."""

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import render
from accp_core.view import legend_for
from accp_core.view.legend import LEGEND, explanations
from tests.core.view.payloads import PAYLOADS

counter = o200k_base()


@pytest.mark.parametrize(
    ("view", "legend"),
    [
        ("a 1\nb two words", ""),
        ("[2] id name\n1 Ana\n2 Ben", ""),
        ('[{"id":1},{"id":2}]', ""),
        ("[2] name, city\nAna Haas, Lima\nBen Ode, Oslo", "a comma ends a cell"),
        ("[2] id name\n1 -\n2 Ben", "- absent"),
        ("a [2] id (kind=x)\n1\n2", "(k=v) in every row"),
        ("[2] id user{id name}\n1 2 a\n3 4 b", "k{a b}, k[a b] nested"),
        ("[2] id user={id name}\n1 {2 a}\n3 null", "k{a b}, k[a b] nested"),
        ("[2] id items[sku]\n1 [a;b]\n3 [c]", "k{a b}, k[a b] nested"),
        (
            "{2} key: id==key n\nx 1\ny 2",
            "{n} key: columns, each row begins with its key; k==key as the key of the row",
        ),
        ("[2] id note?\n1 note=x\n2", "k? only in rows with k="),
        ("a {2} key: n\nx 1\ny 2", "{n} key: columns, each row begins with its key"),
        ("a [1] b\n1\nc {2} key: n\nx 1\ny 2", "{n} key: columns, each row begins with its key"),
        ("a [:b c: 1 2;3 4]", "[:columns: row;row] a table"),
        ("a b\nc=${a}/d", "in k=${a}/b, ${a} is the value of a"),
        ("[1] a (c=x/${a}d)\n1", "(k=v) in every row; in k=${a}/b, ${a} is the value of a"),
        ("a $b\nc d=$a\nprice=$5 x", ""),
        ("a &1 x\nb *1", "&1 marks a value, *1 repeats it"),
        ("a !json2u [1]", "!json a string that holds this as JSON"),
    ],
)
def test_only_what_a_view_has_is_explained(view: str, legend: str) -> None:
    assert legend_for(view) == (f"Notation: {legend}." if legend else "")


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
