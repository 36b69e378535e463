"""Parts of a request, of the rows that it asks for and of what stands beside them, each alone."""

import json
from types import SimpleNamespace
from typing import Any

from accp_core.bounded import SizedCache
from accp_core.compression import ResultLimits
from accp_core.documents import Value, read
from accp_core.documents.cut import both_ends
from accp_core.documents.json_layout import describe_blanks
from accp_core.previews import rows, table_preview
from accp_core.previews.asked import conditions, named_rows, request
from accp_core.projection import ToolForms, check_tool_forms
from accp_core.tables import open_text

NOTHING: Any = SimpleNamespace(order=lambda column: None)


def test_what_a_request_says_is_read() -> None:
    assert request._clock("noon", None, "") == "12:00"
    assert list(request._denied("the invoice is missing"))
    found = [request.Request("x").fits(next(iter(meant)), frozenset(said)) for said, meant in request._MEANINGS]
    assert 2 in found


def test_conditions_by_parts() -> None:
    order: Any = SimpleNamespace(values=[1, 2], kind="number", unit="")
    bound: Any = SimpleNamespace(clock="", sign="=")
    assert conditions._limit(bound, order, "size") == ([1, 2], None)
    assert "Not Found" in list(conditions._http_words(404))
    assert list(conditions._http_words(499)) == ["4xx", "client error"]


def test_the_best_may_be_the_least_or_the_greatest() -> None:
    me: Any = SimpleNamespace(_columns=NOTHING)
    best: Any = SimpleNamespace(kind="best")
    assert named_rows._Reader._ends(me, "score", best) == ("least", "greatest")


def test_rows_of_a_statement_that_comes_first_are_worth_more() -> None:
    said: Any = SimpleNamespace(wanted=[], first=True, numbers=[3])
    assert rows._rows_that_come_first([said]) == {3: 1.0}


def test_a_table_beside_another_shows_its_columns_alone() -> None:
    me: Any = SimpleNamespace(
        size=900, schema_size=800, _rows=SimpleNamespace(choose=lambda room: {}), _shows_all=lambda rows: False,
        _describe=lambda *room: "id, name", _with_rows=lambda rows, facts: iter([facts]),
    )  # fmt: skip
    assert list(table_preview._DescribedTable.write(me, 500, is_beside=True)) == ["id, name"]


def test_a_text_after_a_gap_that_is_no_grid_ends_none() -> None:
    source = "id,name\n1,Ana\n2,Ben\n3,Cy\nwords"
    (head,) = read(source[: source.index("words")]).values()
    assert isinstance(head, Value)
    assert both_ends._grid_end(source, head, source.index("words")) is None


def test_small_parts_of_the_core() -> None:
    cache: SizedCache[str, int] = SizedCache(100)
    cache.put("a", 1, 10)
    assert cache.keys() == ("a",)
    assert describe_blanks([("", "1")], [], 1) is None
    limits = ResultLimits()
    assert ToolForms({"a": "as_is"}).limits_of("a", limits) is None
    check_tool_forms({"a": "as_is", "b": limits})
    text = "deep"
    for _ in range(12):
        text = json.dumps({"type": "text", "text": text})
    assert open_text(text).prose
    block = json.dumps({"type": "text", "text": "words alone"})
    assert open_text(block).prose == "words alone"
