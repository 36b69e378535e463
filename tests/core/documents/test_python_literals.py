"""What `repr` and `pprint` write of lists, tuples and dicts, alone and inside other text."""

import contextlib
import datetime
import uuid
from decimal import Decimal
from pprint import pformat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, render, render_text
from accp_core.documents import printed, read
from accp_core.packing.expansion import Expansion
from accp_core.tables import open_text
from accp_core.view.layout import restore
from tests.properties.json_values import values
from tests.work import count_calls

COUNT = o200k_base()
ROWS: list[dict[str, Any]] = [
    {"id": n, "name": f'AC/DC\'s "é" {n}', "ok": n % 2 == 0, "at": None, "tags": ["a", "b"]} for n in range(30)
]
LIFE = [(n, f"AC/DC {n}", n * 1.5) for n in range(30)]
TEXTS = {
    "repr": str(ROWS),
    "pprint": pformat(ROWS),
    "pprint, wide": pformat(ROWS, width=400),
    "after a word": f"Result: {ROWS}",
    "between lines": f"Found:\n{ROWS}\nThat is all.\n",
    "pprint between lines": f"Found:\n{pformat(ROWS)}\nThat is all.\n",
}


@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS)
def test_a_literal_is_read_alone_and_inside_other_text(source: str) -> None:
    view = render_text(source, counter=COUNT)
    assert view.restore() == source
    assert view.tokens_after <= COUNT(render(ROWS, counter=COUNT)) + 16
    assert open_text(source).value == ROWS
    assert len(next(table for table in open_text(source).tables() if table.name == "rows").rows) == len(ROWS)


@pytest.mark.parametrize("source", [str(LIFE), f"Rows: {LIFE}", pformat(LIFE), str([(1,), (2,)] * 40)])
def test_rows_that_are_tuples_come_back(source: str) -> None:
    view = render_text(source, counter=COUNT)
    assert (view.restore(), view.tokens_after < view.tokens_before) == (source, True)
    (rows, *_) = open_text(source).tables()
    assert rows.columns[0] == "c0"


ROW = (
    Decimal("12.50"), datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5, 6), uuid.UUID(int=7), "x, y",
    (1, []), Decimal("NaN"), Decimal("1E+3"), None, (), (None,), {"at": datetime.date(2024, 1, 2)},
)  # fmt: skip


@pytest.mark.parametrize("value", [[ROW] * 9, [(1, "a"), (Decimal(2), "b")], {"a": [ROW, [ROW]], "b": {"c": ROW}}])
def test_what_json_has_not_comes_back(value: Any) -> None:
    for source in (repr(value), pformat(value), f"Result: {value}\nThat is all."):
        found = open_text(source).value
        assert render_text(source, counter=len).restore() == source
        assert render_text(source, counter=len).layout != "as-is"
    if isinstance(value, list) and value[0] is ROW:
        assert list(found[1])[:3] == ["c0", "c1", "c2"]
        first = list(found[1].values())
        assert [repr(first[0]), *first[1:4]] == ["12.50", "2024-01-02", "2024-01-02T03:04:05.000006", str(ROW[3])]


def test_what_a_view_cannot_tell_has_tables_alone() -> None:
    rows = [(Decimal(n) if n % 2 else n, n if n % 3 else Decimal(n)) for n in range(400)]
    source = repr(rows)
    assert len(open_text(source).tables()[0].rows) == 400
    assert render_text(source, counter=len).layout == "as-is"


@pytest.mark.parametrize(
    "source",
    [
        "{'a': 1, 'a': 2}",
        "['a' 'b', {'c': 1}]",
        "('one of several words')",
        "()",
        "['\\ud83d', {'a': 1}]",
        "x: ['a', 'b', 'c', 'd', 'e']\n",
        "x: [('a', 'b', 'c', 'd', 'e']\n",
        "x: [('a', 'b', 'c', 'd',\ny",
        "x: [('a', 'b', 'c', 'd')] and more\n",
        "[(datetime.date(2026, 2, 30), 'a')]",
        "[(datetime.date(1, 2, 3, 4), 2)]",
        "[(01, 2)]",
        "[(1.2.3, 2)]",
        "[(1), (2)]",
    ],
)
def test_what_is_no_literal_of_values_stays_text(source: str) -> None:
    assert render_text(source, counter=len).text == source
    assert isinstance(open_text(source).value, str)


@pytest.mark.parametrize(
    "layout", ["px:3", "p/x:3", "pr:3", "pr/:5", "p/s1;9.0:3", "pT;9.0/:3", "px;0.0/:3", "pd;1.0/:3", "pT;1.0/:3"]
)
def test_a_layout_that_does_not_fit_is_refused(layout: str) -> None:
    text = "a b" if layout.endswith("5") else "[1]"
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"v4 {layout[:-1]}{len(text)}")
    assert refusal.value.code == "E1001"


def test_a_literal_behind_a_word_is_not_read_as_yaml_as_well() -> None:
    rows = [{"id": number, "name": "Ana", "tags": ["a", None]} for number in range(2_000)]
    assert count_calls(lambda: read(f"Result: {rows}")) < 300_000


@given(values, st.integers(10, 120))
def test_whatever_python_writes_comes_back_or_is_left(value: Any, width: int) -> None:
    for source in (repr([value, "x"]), pformat([value, "x"], width=width), f"a: {[(value, 'x')]!r}\n"):
        assert render_text(source, counter=len).restore() == source
        with contextlib.suppress(ValueError):
            found = printed.read(source)
            if (how := printed.describe(source, found)) is not None:
                assert printed.write(found, how, Expansion(100_000)) == source


@pytest.mark.parametrize(("text", "reason"), [("[]", "with members"), (r"['\U00110000']", "with members")])
def test_what_is_no_value_of_python_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        printed.read(text)
