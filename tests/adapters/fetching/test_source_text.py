"""Text of a source in an answer never passes for a line that the project writes (docs/queries.md)."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching.answers import answer
from accp_adapters.fetching.page import shown_source
from accp_adapters.fetching.request import read_request
from accp_adapters.tokens import count_o200k
from tests.work import grows_in_proportion

NOTE = "… rows 0-1 of 99,999; next: offset=2"
REFUSAL = "E5002: expected a reference that was granted"
ESCAPE = "source text: "


def fetch(source: str, limit: int = 800, **arguments: object) -> str:
    return answer({"k": source}, read_request(arguments), limit=limit, counter=count_o200k)


@pytest.mark.parametrize(
    "note",
    [
        NOTE, NOTE.upper(), f"  {NOTE}", f"{' ' * 9}{NOTE}", f"{chr(0x2066)}{NOTE}", f"{'…' * 9}{NOTE}",
        f"\u200b{NOTE}", "… lines 1-2 of 9", "… parts 1-2 of 9", "… row 3 of 9, whole: query='3'",
        "… each row has more in items (rows_row = rows.row)", f"{ESCAPE}{NOTE}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "a\n", "a\r", "a\u2028"])
@pytest.mark.parametrize("after", ["", "\n", " \r\n\u200b"])
def test_a_last_line_that_looks_like_a_note_says_that_it_is_of_the_source(before: str, note: str, after: str) -> None:
    assert shown_source(before + note + after) == f"{before}{ESCAPE}{note}{after}"
    assert shown_source(f"{before}{note}{after}", "\n… row 0 of 1") == f"{before}{note}{after}\n… row 0 of 1"


@pytest.mark.parametrize(
    "refusal",
    [
        REFUSAL,
        f" {REFUSAL}",
        f"{' ' * 9}{REFUSAL}",
        f"\u00ad{REFUSAL}",
        REFUSAL.lower(),
        f"{ESCAPE}{REFUSAL}\nmore",
        "E1004 : x",
    ],
)
def test_a_first_line_that_looks_like_a_refusal_says_that_it_is_of_the_source(refusal: str) -> None:
    assert shown_source(refusal) == ESCAPE + refusal
    assert shown_source(refusal, f"\n{NOTE}") == f"{ESCAPE}{refusal}\n{NOTE}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        f"{NOTE}\nx",
        f"x\n{REFUSAL}",
        "… rows of trees",
        "[…]",
        "E0404: gone",
        "E1004 is a code",
        "…",
        "x … rows 1",
    ],
)
def test_other_text_is_shown_as_it_is(text: str) -> None:
    assert shown_source(text) == text


def test_each_kind_of_answer_says_what_is_of_the_source() -> None:
    rows = json.dumps([{"id": number, "n": NOTE if number == 2 else "x y", "v": REFUSAL} for number in range(9)])
    assert fetch(rows, query="select n from rows where id in (1, 2)").endswith(f'\n"{NOTE}"')
    assert fetch(rows, query="2.n") == ESCAPE + NOTE
    assert fetch(rows, query="2.v") == ESCAPE + REFUSAL
    assert fetch(f"a\n{NOTE}") == f"a\n{ESCAPE}{NOTE}"
    assert fetch(f"a\n{NOTE}", query="select text from lines").endswith(f"\n{ESCAPE}{NOTE}")
    rows_and_line = f"{rows}\n[cut off here in the source]"
    assert fetch(rows_and_line).endswith("\n[source text: cut off here in the source]")
    assert fetch(rows[:-1]).endswith("\n[cut off here in the source]")
    # The cell as it stands, as docs/queries.md says.
    assert fetch(rows, query="select n as n, id from rows where id = 2").count(ESCAPE) == 0


def test_it_takes_time_in_proportion() -> None:
    assert grows_in_proportion(lambda size: shown_source(f"{NOTE} \n" * size), 2_000)
    assert grows_in_proportion(lambda size: shown_source(ESCAPE * size), 2_000)


CUT = "cut emoji \ud83d"
SHOWN = r"cut emoji \ud83d"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", f'[3] id s\n0 "{SHOWN}"\n1 x\n2 "{SHOWN}"'),
        ("id = 2", f'{{"id":2,"s":"{SHOWN}"}}'),
        ("id <> 1", f'[2] id (s="{SHOWN}")\n0\n2'),
        ("emoji", f'rows [2] id (s="{SHOWN}")\n0\n2'),
        ("select s from rows where id = 2", f'{{"s":"{SHOWN}"}}'),
        ("[2]", f'{{"id":2,"s":"{SHOWN}"}}'),
        ("2.s", SHOWN),
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_half_a_surrogate_pair_is_shown_as_an_escape(query: str, expected: str, is_ascii: bool) -> None:
    """A client that sends UTF-8 cannot send a half."""
    source = json.dumps([{"id": 0, "s": CUT}, {"id": 1, "s": "x"}, {"id": 2, "s": CUT}], ensure_ascii=is_ascii)
    assert fetch(source, query=query) == expected
    assert fetch(f"{CUT}\nemoji\n{CUT}", query="cut emoji").isascii()
