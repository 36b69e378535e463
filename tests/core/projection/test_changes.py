"""A reader that knows docs/views.md alone restores a table from its changes, whatever its keys are."""

from __future__ import annotations

import json
import random
import re
from typing import Any, Final

import pytest

from accp_adapters.tokens import count_o200k
from accp_core import render
from accp_core.projection import Repeats, Shortened
from tests.core.view.test_hostile_values import IMITATIONS, told

SIGNS: Final = ["a, b", "a without b", "but for these by id:]", 'the last "x…"', "k1, k2", "without", "by id", "]", "…"]
MARKER: Final = re.compile(r'\[as above: the last "(.*)…"(?: without (.*?))?(?:,? but for these)? by (\w+):?\]')


def restored(shown: str, earlier: str) -> list[dict[str, Any]]:
    """Return the rows that changes leave of the table of an earlier view."""
    first, *body = shown.split("\n")
    marker, header = MARKER.fullmatch(first), earlier.split("\n")[0]
    assert marker and any(line.startswith(marker[1]) for line in earlier.split("\n")), shown
    is_header = bool(body) and re.sub(r"\d+", "", body[0]) == re.sub(r"\d+", "", header)
    counted, columns = told(earlier)[0], header.partition("] ")[2]
    if is_header:
        counted = int(re.findall(r"\[(\d+)\]", body.pop(0))[0])
    by = marker[3]
    # Each row that is gone has its key as the rows have it.
    gone = [cell.removesuffix(", ") for cell in re.findall(r'"(?:[^"\\]|\\.)*"(?:, |$)|.+?(?:, |$)', marker[2] or "")]
    gone = [json.loads(cell) if cell[0] == '"' or cell.isdecimal() else cell for cell in gone]
    rows = [row for row in told(earlier)[1] if row[by] not in gone]
    assert len(rows) + len(gone) == told(earlier)[0], shown
    at = 0
    for row in told("\n".join([f"users [{len(body)}] {columns}", *body]))[1] if body else ():
        places = [number for number, known in enumerate(rows) if known[by] == row[by]]
        if places:
            at = places[0]
            rows[at] = row
        else:
            rows.insert(at, row)
        at += 1
    assert len(rows) == counted, shown
    return rows


def changed(rows: list[dict[str, Any]], keys: list[str], key: str, chance: random.Random) -> list[dict[str, Any]]:
    """Return a later version: some rows differ, are gone, new or moved."""
    later = [dict(row) for row in rows]
    for _ in range(chance.randint(1, 4)):
        row = chance.choice(later)
        match chance.choice(["differs", "gone", "new", "moved"]):
            case "differs":
                row["n"] += 1
            case "gone":
                later.remove(row)
            case "new" if unused := [each for each in keys if each not in [known[key] for known in later]]:
                later.insert(chance.randint(0, len(later)), {**row, key: chance.choice(unused)})
            case "moved":
                later.insert(chance.randint(0, 9), later.pop(later.index(row)))
    return later


@pytest.mark.parametrize("columns", ["id role n", "role id n", "role n id"])
@pytest.mark.parametrize("kind", [*IMITATIONS, "sign"])
def test_a_table_is_restored_from_its_changes_as_the_page_says(kind: str, columns: str) -> None:
    hostile = IMITATIONS.get(kind, SIGNS)
    keys = [*hostile, *(f"k{n}" for n in range(20))]
    shown_as_changes = 0
    for seed in range(60):
        chance = random.Random(seed)
        cells = [{"id": key, "role": ("user", "guest")[n % 2], "n": n} for n, key in enumerate(keys)]
        rows = [{name: row[name] for name in columns.split()} for row in chance.sample(cells, len(keys) - 3)]
        later = changed(rows, keys, "id", chance)
        one, other = (render({"users": each}, counter=count_o200k) for each in (rows, later))
        repeats = Repeats()
        repeats.add(Shortened(text=one))
        shown = repeats.shorten(other, counter=count_o200k, unit="rows")
        if shown.markers and "the last" in shown.text.split("\n")[0] and MARKER.match(shown.text):
            shown_as_changes += 1
            assert restored(shown.text, one) == told(other)[1] == later, shown.text
    assert shown_as_changes >= 20
