"""The parts of a preview by themselves: what is rated, which query is shown, which cells are counted."""

import json

from accp_core.previews import preview
from accp_core.previews.facts import facts_of
from accp_core.previews.marks import Marks
from accp_core.previews.units import MAX_RATED, candidate_spans
from accp_core.tables import tables_of
from tests.adapters.langgraph.jobs import ROWS

ROUTINE = "".join(f"2026-11-22 12:{n % 60:02} worker {n} did its routine work\n" for n in range(4_000))
assert len(ROUTINE) > MAX_RATED


def rated(text: str, *words: str) -> str:
    return "\n".join(text[start:end] for start, end in candidate_spans(text, words))


def test_of_a_word_the_first_and_the_last_places_are_rated() -> None:
    lines = ROUTINE.split("\n")
    for number in range(20):
        lines[500 + 100 * number] = f"zebra {number} came by"
    text = "\n".join(lines)
    found = rated(text, "zebra")
    assert all(f"zebra {number} " in found for number in (0, 1, 18, 19))


def test_large_lists_in_cells_are_counted() -> None:
    rows = [{**row, "marks": list(range(200))} for row in ROWS]
    shown = preview(json.dumps(rows), limit=400, opening="$cold.1", counter=lambda text: len(text) // 4 + 1)
    assert "array of 200" in shown


def test_of_many_values_the_most_frequent_and_the_rarest_are_listed() -> None:
    counts = {value: 60 // (number + 1) for number, value in enumerate("abcdefghijklm")}
    rows = [{"id": n, "kind": value} for n, value in enumerate(v for v, count in counts.items() for _ in range(count))]
    (table,) = tables_of(rows)
    facts = facts_of(table, "kind", Marks())
    assert facts.brief == "a (60), b (30), 9 others, rarest m (4), l (5)"
    assert facts.full.startswith("a (60), b (30), c (20), d (15), e (12), ")
