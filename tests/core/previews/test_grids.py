"""Previews of texts with grids: the tables as those of JSON, and the lines around them."""

import json

from accp_core.previews import preview
from accp_core.tables import MAX_WHOLE

OPENING = "accp_fetch $cold.1f2e3d4c"
ROWS = "\n".join(f"{number},{'late' if number == 77 else 'paid'},{number * 3}.50" for number in range(200))
CSV = f"id,status,total\n{ROWS}\n"


def shown(source: str, limit: int = 500, request: str = "", *, is_part: bool = False) -> str:
    text = preview(source, limit=limit, opening=OPENING, counter=len, request=request, is_part=is_part, is_queried=True)
    assert len(text) <= limit
    return text


def test_long_prose_leaves_room_for_the_tables_and_they_for_it() -> None:
    prose = "\n".join(f"Sentence {number} of the page says nothing of worth." for number in range(300))
    text = shown(f"{prose}\n\n{CSV}", 900)
    assert "\nrows: 200 rows, " in text
    assert "\nSentence 0 of the page says nothing of worth." in text


def test_lines_outside_the_grids_of_a_text_in_a_json_string_are_its_own() -> None:
    assert shown(json.dumps(f"{CSV}\nThe rest comes in May.")).endswith("\n[…lines 1-202]\nThe rest comes in May.")


def test_two_grids_are_two_tables() -> None:
    text = shown(f"{CSV}\n| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n")
    assert "\nrows: 200 rows, " in text
    assert "\nrows_2: 2 rows" in text


def test_of_a_very_long_grid_lines_are_shown() -> None:
    text = shown("id,status,total\n" + f"{ROWS}\n" * (MAX_WHOLE // len(ROWS) + 1), 900)
    assert "\nid,status,total\n" in text
    assert "; e.g. query: lines " in text


def test_a_text_of_values_is_shown_by_their_table() -> None:
    source = "\n".join(f"{{'contract': 'LS-{n:03}', 'ends': datetime.date(2027, {n % 12 + 1}, 5)}}" for n in range(90))
    text = shown(source, 600, "which contract ends first")
    assert "\nrows: 90 rows, " in text
    assert "\nleast ends: 2027-01-05 (8), 2027-02-05 (" in text
