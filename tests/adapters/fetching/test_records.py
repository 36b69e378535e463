"""The records that a preview sees in a text are a table that a query names."""

from __future__ import annotations

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.tokens import o200k_base
from accp_core.errors import ProtocolError
from accp_core.references import key_of
from tests.core.previews.test_records import CODE, COMMITS, LOG, MAILS

counter = o200k_base()
LISTING = "\n".join(f"{n * n + 17} ./src/part_{n}.py" for n in range(40))
TRACES = "\n".join(
    f"2026-02-17T09:{n:02}:00 {'ERROR' if n % 9 == 4 else 'INFO'} job {n}"
    + ("\nTraceback (most recent call last):\n  File job.py, line 9\nValueError: empty" if n % 9 == 4 else "")
    for n in range(50)
)


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        (COMMITS, "select count(*) from records where Author like 'Bob%' and \"Reviewed-by\" is null", 5),
        (COMMITS, "select max(insertion) from records", 190),
        (COMMITS, "select \"commit\" from records where text like '%labels.py%'", f"{5:040x}"),
        (COMMITS, "select l.text from lines l join records r on l.n = r.n + 1 where r.file = 4 limit 1", None),
        (MAILS, "select count(*) from records where \"From\" like 'Bob%'", 6),
        (MAILS, "select text from records order by n desc limit 1", "The fee of crane 12 is 84 euros."),
        (LOG, "select n from records where level = 'ERROR'", 41),
        (TRACES, "select count(*) from records where text like '%Traceback%ValueError%'", 6),
        (CODE, 'select count(*) from records where "limit" > 120', 3),
        (LISTING, "select n from records order by number_1 desc limit 1", 40),
    ],
)
def test_a_query_names_the_records_of_a_text(text: str, query: str, found: object) -> None:
    value = value_at(text, query)
    assert value == found if found is not None else str(value).startswith("Author: ")


def test_a_condition_on_a_column_of_the_records_finds_them_and_one_on_lines_finds_lines() -> None:
    def ask(query: str) -> str:
        return answer({key_of(LOG): LOG}, FetchRequest(query=query), limit=400, counter=counter)

    assert "CutOffPassed: too late" in ask("level = 'ERROR'")
    assert "41: 2026-02-17 09:00:40 ERROR sync failed" in ask("text like '%sync failed%'")
    with pytest.raises(ProtocolError, match=r"E1004: expected a column of lines.* records\(n, time, level, text"):
        ask("level = 'NONE' and nothing = 3")


def test_a_text_of_plain_lines_has_no_records() -> None:
    plain = "\n".join("abcdefgh"[n % 8] * (n % 7 + 1) for n in range(60))
    assert value_at(plain, "select count(*) from records") == 60
    named = "\n".join(f"Time: {n}\ntime: {n}\nbody {n}\n" for n in range(20))
    assert value_at(named, "select count(*) from records where Time > 10") == 9
