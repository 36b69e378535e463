"""Numbers that Python has none for: text in tables, and in a view that restores them without quotes."""

import json
from typing import Any

import pytest

from accp_core.documents.json_forms import write_json
from accp_core.packing.expansion import Expansion
from accp_core.tables import open_text
from accp_core.view import render_text
from accp_core.view.layout import AS_IS

DIGITS = "7" * 5_000
NUMBERS = ["1e400", "-1E+400", "NaN", "-Infinity", DIGITS, f"-{DIGITS}", f"{DIGITS}.5"]


def rows(number: str) -> str:
    """Return rows in which a number, the same text in quotes and usual values take turns."""
    cells = [number, f'"{number}"', "1.50", "-0", '"x"', number, f'"{number}\\n"']
    return "[" + ",\n ".join(f'{{"id": {n}, "x": {cell}, "zip": "0123"}}' for n, cell in enumerate(cells)) + "]"


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:9])
def test_a_document_that_holds_one_has_a_view(number: str) -> None:
    source = rows(number)
    view = render_text(source, counter=len)
    assert view.layout != AS_IS
    assert f'"{number}"' in view.text
    assert view.restore() == source
    table: list[Any] = open_text(source).value
    assert [row["x"] for row in table[:2]] == [number, number]


@pytest.mark.parametrize("write", [json.dumps, lambda text: json.dumps([{"type": "text", "text": text}], indent=2)])
def test_in_a_string_and_in_lines(write: Any) -> None:
    lines = "\n".join(f'{{"id": {n}, "load": {"NaN" if n % 3 else "1e999"}, "of": "NaN {n}"}}' for n in range(9))
    for source in (lines, write(rows("1e400"))):
        view = render_text(source, counter=len)
        assert view.layout != AS_IS
        assert view.restore() == source


@pytest.mark.parametrize("told", ["=1;0.0,4.0", "=2;0.0", "=1;0.1", "=x", "=1;0.0=1;0.0"])
def test_a_layout_that_does_not_fit_is_refused(told: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        write_json([["NaN", "1"]], told, Expansion(1_000))
