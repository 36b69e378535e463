"""Rows of a database as Python's `repr` writes them."""

import datetime
from decimal import Decimal
from typing import Any

import pytest

from accp_core.documents import Value, python_rows, read
from accp_core.packing.expansion import Expansion
from accp_core.tables import open_text
from accp_core.view import render_text

ROWS: list[tuple[Any, ...]] = [
    (1, "AC/DC", Decimal("9.90"), datetime.date(2026, 2, 22), datetime.datetime(2026, 2, 22, 16, 0), True, 1.5e-07),
    (2, "it's\n", Decimal("-3"), None, datetime.datetime(2026, 2, 22, 16, 0, 1, 5), None, 2.0),
    (-3, 'say "no"', None, datetime.date(1999, 12, 31), None, False, 0.1),
]


def test_rows_are_tables_and_come_back_byte_for_byte() -> None:
    source = repr(ROWS)
    (rows,) = open_text(source).tables()
    assert rows.columns == ("c0", "c1", "c2", "c3", "c4", "c5", "c6")
    assert [repr(cell) for cell in rows.cells("c2")] == ["9.90", "-3", "None"]
    assert list(rows.cells("c3")) == ["2026-02-22", None, "1999-12-31"]
    assert list(rows.cells("c4")) == ["2026-02-22 16:00:00", "2026-02-22 16:00:01.000005", None]
    view = render_text(source, counter=len)
    assert view.layout != "as-is"
    assert view.restore() == source
    assert view.tokens_after < view.tokens_before


@pytest.mark.parametrize("rows", [[(1,), (2,)], [(None, None)], [(Decimal("1E+3"), "x"), (Decimal("NaN"), "y")]])
def test_rare_rows_come_back(rows: Any) -> None:
    (part,) = read(repr(rows)).values()
    assert isinstance(part, Value)
    assert part.how is not None
    assert part.form.write(part.value, part.how, Expansion(1000)) == repr(rows)


def test_columns_of_several_kinds_have_tables_and_no_view() -> None:
    source = repr([(1, "a"), (Decimal("2"), "b")])
    assert [list(table.cells("c0")) for table in open_text(source).tables()] == [[1, 2]]
    assert render_text(source, counter=len).layout == "as-is"


@pytest.mark.parametrize(
    "source",
    [
        "[(1, 'a'), (2,)]",
        "[(1, 'a'), (2, f())]",
        "[(1, 'a')] more",
        "[(1, 'a'), (2, 'b'",
        "[(datetime.date(2026, 2, 30), 'a')]",
        "[(1, [2])]",
        "[(01, 2)]",
        "[(1.2.3, 2)]",
        "[(1e+999, 2)]",
        "[(datetime.date(1), 2)]",
        f"[(datetime.date({'9' * 30}, 1, 1), 2)]",
        r"[('\ud83d\ude00', 2)]",
        "[()]",
        "[(1), (2)]",
        "[(1, 'a'),  (2, 'b')]",
    ],
)
def test_other_tuples_are_no_rows(source: str) -> None:
    with pytest.raises(ValueError, match=r"^expected|^day is out of range"):
        python_rows.read(source)


@pytest.mark.parametrize("how", ["p", "ppp", "px", "tp", "dp"])
def test_a_layout_that_does_not_fit_is_refused(how: str) -> None:
    with pytest.raises(ValueError, match=r"^expected"):
        python_rows.write([{"a": 1, "b": "x"}], how, Expansion(100))
