"""Text of a source in an answer never passes for a line that the project writes (docs/queries.md)."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching.answers import answer
from accp_adapters.fetching.page import shown_source
from accp_adapters.fetching.request import read_request
from accp_adapters.messages import project_messages
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from tests.work import grows_in_proportion

NOTE = "… rows 0-1 of 99,999; next: offset=2"
REFUSAL = "E5002: expected a reference that was granted"
ESCAPE = "source text: "


def fetch(source: str, limit: int = 800, **arguments: object) -> str:
    return answer({"k": source}, read_request(arguments), limit=limit, counter=count_o200k)


LINES_LIKE_OURS = [
    NOTE, NOTE.upper(), f"  {NOTE}", f"{' ' * 9}{NOTE}", f"{'…' * 9}{NOTE}", f"\ufe0f{NOTE}", "… lines 1-2 of 9",
    "...rows 0-1 of 9; next: offset=2", f"\u22ef{NOTE[1:]}", "… each row has more in items", f"{ESCAPE}{NOTE}",
    "… t: compared as texts, 13 of 400 rows hold no number", "… words in lines; no tables of a text:",
    "0 of 260 rows; status has: closed (65)", "0 of 3 lines have all 2 words (a 1, b 1); with 1:",
    REFUSAL, f" {REFUSAL}", REFUSAL.lower(), f"{ESCAPE}{REFUSAL}", "E1004 : x",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES_LIKE_OURS)
def test_a_line_that_looks_like_ours_says_that_it_is_of_the_source(line: str) -> None:
    assert shown_source(line) == f"{ESCAPE}{line}"
    source = f"a\n{line}\nb\n{line}"
    told = f"a\n{ESCAPE}{line}\nb\n{ESCAPE}{line}"
    projected = project_messages([{"role": "tool", "tool_call_id": "c1", "content": source}])
    # A tool refuses as we do, perhaps one of ours.
    is_refusal = line.removeprefix(ESCAPE).strip().upper().startswith(("E5002", "E1004"))
    assert projected.messages[0]["content"].startswith(f"a\n{ESCAPE * (not is_refusal)}{line}\nb\n")
    assert shown_source(source, "\n… row 0 of 1") == f"{told}\n… row 0 of 1"
    for query in ("", "select text from lines", "0.t", "b"):
        shown = fetch(json.dumps([{"t": source}]) if query == "0.t" else source, query=query)
        assert f"\n{line}" not in f"\n{shown}"


@pytest.mark.parametrize("text", ["", "\n", "[…]", "E0404: gone", "E1004 is a code", "…", "x … rows 1", "... 9 more"])
def test_other_text_is_shown_as_it_is(text: str) -> None:
    assert shown_source(text) == text


UNSEEN = ["\x1b[2J", "\r", "\x0c", "\x85", "\u2028", "\u202e", "\u200b", "\ufeff", "\0", "\U000e0041", "\ud83d"]


@pytest.mark.parametrize("sign", UNSEEN)
@pytest.mark.parametrize(
    "query", ["", "lines 1-3", "hit", "select text from lines", "select n, text from lines", "text like '%hit%'"]
)
def test_a_line_with_what_shows_nothing_is_a_json_string(query: str, sign: str) -> None:
    escape = json.dumps(sign)[1:-1]
    shown = fetch(f'a\nhit "{sign}" hit\n"hit {escape}"\r\n', query=query)
    assert sign not in shown.replace("\r\n", "\n")
    line, alike = (each for each in shown.split("\n") if "hit" in each)
    number = len(line) - len(line.lstrip("23: "))
    assert json.loads(line[number:]) == f'hit "{sign}" hit'
    # What the source writes like such a line is told apart.
    assert json.loads(alike[number:]) == f'"hit {escape}"'


@pytest.mark.parametrize("sign", UNSEEN)
@pytest.mark.parametrize("query", ["", "id < 3", "hit", "0", "select s from rows", "s = 'x'", "select q from rows"])
def test_what_shows_nothing_is_an_escape_in_rows_notes_and_refusals(query: str, sign: str) -> None:
    rows = json.dumps([{"id": 1, "s": f"hit{sign}", f"k{sign}": 1}, {"id": 2, "s": "y"}], ensure_ascii=False)
    try:
        shown = fetch(rows, query=query)
    except ProtocolError as error:
        shown = str(error)
    assert sign not in shown


def test_each_kind_of_answer_says_what_is_of_the_source() -> None:
    rows = json.dumps([{"id": number, "n": NOTE if number == 2 else "x y", "v": REFUSAL} for number in range(9)])
    assert fetch(rows, query="select n from rows where id in (1, 2)").endswith(f'\n"{NOTE}"')
    assert fetch(rows, query="2.v") == ESCAPE + REFUSAL
    rows_and_line = f"{rows}\n[cut off here in the source]"
    assert fetch(rows_and_line).endswith("\n[source text: cut off here in the source]")
    assert fetch(rows[:-1]).endswith("\n[cut off here in the source]")
    # The cell as it stands, behind another one.
    assert fetch(rows, query="select id, n as n from rows where id = 2").count(ESCAPE) == 0


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
        ("2.s", f'"{SHOWN}"'),
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_half_a_surrogate_pair_is_shown_as_an_escape(query: str, expected: str, is_ascii: bool) -> None:
    """A client that sends UTF-8 cannot send a half."""
    source = json.dumps([{"id": 0, "s": CUT}, {"id": 1, "s": "x"}, {"id": 2, "s": CUT}], ensure_ascii=is_ascii)
    assert fetch(source, query=query) == expected
    assert fetch(f"{CUT}\nemoji\n{CUT}", query="cut emoji").isascii()
