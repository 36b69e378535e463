"""What a preview says is true of its source, whatever the source is."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.tokens import o200k_base
from accp_core import read
from accp_core.compression import ResultLimits, compress
from accp_core.previews import preview
from accp_core.references import key_of, short_reference
from accp_core.tables import open_text
from accp_core.tables.table import table_of_lines
from accp_core.tables.values import type_column
from accp_core.view.notation import write_name
from tests.properties.json_values import values as json_values

counter = o200k_base()
LIMITS = ResultLimits(inline=30, preview=150)
TITLE = re.compile(r"(?P<name>.+): (?P<rows>[\d,]+) rows?(?:, (?P<shown>\d+) shown)?(?:, \S+ = \S+)?(?:; .*)?")

names = st.sampled_from(["id", "total", "a b", "Id", "status", "x.y", "group", "é"]) | st.text(min_size=1, max_size=6)
scalars = st.none() | st.booleans() | st.integers(-99, 9_999) | st.floats(0, 1) | st.text(max_size=20)
nested = st.lists(st.dictionaries(names, scalars, max_size=3), max_size=3) | st.dictionaries(names, scalars, max_size=3)
rows = st.lists(st.dictionaries(names, scalars | nested, min_size=1, max_size=5), min_size=1, max_size=8)
values = st.builds(lambda some, times: some * times, rows, st.integers(4, 40))
documents = values | st.dictionaries(names, values, min_size=1, max_size=3)
lines = st.text("ab c1\n", min_size=1, max_size=80)
texts = st.builds(lambda some, times: "\n".join(some * times), st.lists(lines, min_size=1), st.integers(2, 60))


def shown(source: str) -> str | None:
    """Return the preview, which is within its limit and names its source; None: there is none."""
    result = compress(source, limits=LIMITS, counter=counter, request="status of 411", open_with="accp_fetch")
    if result.stored is None:
        return None
    assert result.stored.text == source
    assert result.tokens_after == counter(result.text) <= LIMITS.preview
    assert f"accp_fetch {short_reference(key_of(source))}" in result.text.split("\n")[0]
    return result.text


def ask(source: str, query: str) -> str:
    request = FetchRequest(ref=f"${key_of(source)}", query=query)
    return answer({key_of(source): source}, request, limit=2_000, counter=counter)


@given(documents)
def test_the_example_of_any_table_is_answered_and_its_rows_are_counted(value: object) -> None:
    source = json.dumps(value)
    text = shown(source)
    if text is None:
        return
    tables = {write_name(table.name): table for table in open_text(source).tables()}
    head, *body = text.split("\n")
    if example := re.search(r"; e\.g\. query: (.*)\]\Z", head):
        assert ask(source, example[1])
    titles = [title for line in body if (title := TITLE.fullmatch(line)) and title["name"] in tables]
    assert titles or len(body) == 0 or "tables]" in body[-1]
    for title in titles:
        table = tables[title["name"]]
        assert int(title["rows"].replace(",", "")) == len(table.rows)
        assert int(title["shown"] or 0) <= len(table.rows)
        if table.parent is not None:
            column, parent, key = map(write_name, (table.parent.column, table.parent.table, table.parent.key))
            assert f", {column} = {parent}.{key}" in title[0]


@given(documents | json_values)
def test_each_column_that_a_preview_may_name_is_selected_and_counted(value: object) -> None:
    source = json.dumps(value)
    for table in open_text(source).tables()[:3]:
        for column in table.columns[:4]:
            counted = ask(source, f'select count(*) as total, count("{column}") as cells from "{table.name}"')
            # What a column of numbers or times leaves out, such as "-", is null.
            known = sum(cell is not None for cell in type_column([row.get(column) for row in table.rows]).values)
            found = read(counted)
            assert (found["total"], found["cells"]) == (len(table.rows), known)


@given(st.lists(st.sampled_from(["paid", "open", "late"]), min_size=60, max_size=200))
def test_the_counts_of_a_column_are_those_of_its_values(states: list[str]) -> None:
    source = json.dumps([{"n": number, "state": state} for number, state in enumerate(states)])
    text = preview(source, limit=150, opening="$cold.1", counter=counter)
    if not text.startswith("[preview"):
        return
    facts = text.split("\n")[1]
    assert f"; n: 0 to {len(states) - 1}; " in facts
    counted = dict(re.findall(r"(paid|open|late) \((\d+)\)", facts))
    assert {state: int(count) for state, count in counted.items()} == {
        state: states.count(state) for state in set(states) if len(set(states)) > 1
    }


@given(texts)
def test_each_line_of_a_text_is_shown_or_counted(source: str) -> None:
    text = shown(source)
    if text is None or not text.startswith("[preview of"):
        return
    body = text.split("\n")[1:]
    gaps = [re.fullmatch(r"\[…(?:lines? )?(\d+)(?:-(\d+))?\]", line) for line in body]
    hidden = sum(int(gap[2] or gap[1]) - int(gap[1]) + 1 for gap in gaps if gap)
    told = hidden + sum(gap is None for gap in gaps)
    # Line ends at the end are not shown, and a long line has several numbers.
    is_told = len(source.rstrip("\n").split("\n")) <= told <= len(source.split("\n"))
    # A table has headers beside its rows, and what all of them have in common once.
    assert is_told or max(map(len, body)) >= 40 or body[0].startswith("rows: ")
    if example := re.search(r"; e\.g\. query: (.*)\]\Z", text.split("\n")[0]):
        assert ask(source, example[1])
    assert table_of_lines(source).rows
