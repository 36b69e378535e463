"""Queries over a table give the same answers in whatever form a text has it, and its view takes no more tokens."""

import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.tokens import o200k_base
from accp_core import render, render_text
from tests.core.documents.grid_texts import FORMS, JSON, PEOPLE

QUERIES = (
    "select name as who, price * 2 as p from rows where price > 9.4 order by price desc",
    "select late as l, count(*) as n, max(price) as p from rows group by late",
    "select id as number, zip as z, note as t from rows where zip = '045' or note is not null",
)
counter = o200k_base()


def answered(text: str, query: str) -> str:
    return answer({"key": text}, FetchRequest(query=query), limit=1_000, counter=counter)


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
def test_a_grid_is_queried_like_the_json_of_its_rows(source: str) -> None:
    for query in QUERIES:
        assert answered(source, query) == answered(JSON, query)
        assert answered(f"Two lines\n\nbefore it:\n{source}\n3 rows\n", query) == answered(JSON, query)


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
def test_a_view_of_a_grid_takes_hardly_more_tokens_than_that_of_its_value(source: str) -> None:
    view = render_text(source, counter=counter)
    if source != FORMS["Markdown without edges"]:  # it has no view
        assert view.tokens_after <= 1.1 * counter(render(PEOPLE, counter=counter))


def test_the_lines_of_a_grid_keep_their_numbers() -> None:
    source = f"Before.\n\n{FORMS['CSV']}Behind.\n"
    assert answered(source, "select n, text from lines where text like '2,Bo%'").startswith("n 5\ntext ")
    assert answered(source, "select n from lines where text = 'Behind.'") == "n 7"
