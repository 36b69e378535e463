"""A text that is a sequence of records is asked like a table: commits, mails, logs, functions."""

import pytest

from accp_core.previews import preview
from accp_core.previews.records import find_requested_records, read_records, table_of_records
from accp_core.previews.request import Request

COMMITS = "\n".join(
    f"""commit {n:040x}
Author: {("Ann", "Bob", "Cid")[n % 3]} <a@example.com>
Date:   Mon Feb {28 - n} 09:{n:02}:00 2026 +0100

    {"Revert the" if n == 7 else "Raise a"} limit
{"" if n % 4 else chr(10) + "    Reviewed-by: Dan"}
 shop/{"labels" if n == 5 else "stock"}.py | {n} +-
 {n % 5 + 1} files changed, {n * 10} insertions(+), 3 deletions(-)
"""
    for n in range(1, 20)
)
MAILS = "\n".join(
    f"""From: {("Ann", "Bob")[n % 2]} <a@example.com>
To: all@example.com
Date: Mon, {n:02} Feb 2026 09:12:31 +0100
Subject: Re: Fees

The fee of crane {n} is {n * 7} euros.
> The fee of crane {n - 1} is unknown to everybody.
"""
    for n in range(1, 13)
)
LOG = "\n".join(
    f"2026-02-17 09:{n // 60:02}:{n % 60:02} {'ERROR' if n == 40 else 'INFO'} "
    + ("sync failed\n  File sync.py, line 9\nCutOffPassed: too late" if n == 40 else f"synced {n} items in {n} ms")
    for n in range(90)
)
FAILED = "\n".join(f"04:00:{n} Failed password from 203.0.113.{4 if n < 24 else 400 + n}" for n in range(10, 60))
SSHD = "\n".join([FAILED, *(f"04:01:00 closed 203.0.113.4{n}: too many failures passed" for n in range(90))])
CODE = "\n\n".join(
    f"def task_{n}(amount: int, limit: int = {n * 10}):\n    {'raise Full(amount)' if n % 5 == 0 else 'return 1'}"
    for n in range(1, 16)
)


def readings(text: str, request: str) -> list[str]:
    found = find_requested_records(text, Request(request))
    return [] if found is None else [each.describe(are_shown=False) for each in found.named]


@pytest.mark.parametrize(
    ("text", "request_text", "reading"),
    [
        (COMMITS, "Which commits by Bob are not reviewed?", 'Reviewed-by is empty, Author has "bob": 5 records'),
        (COMMITS, "Which commit touched labels.py?", 'text has "labels.py": 1 record'),
        (SSHD, "Failed passwords from 203.0.113.4?", 'text has "203.0.113.4" and "failed" and "password": 14 '),
        (SSHD, "Failed passwords from 203.0.113.41?", 'text has "failed" and "password": 50 lines'),
        (COMMITS, "Which commits touch four files or more?", "file≥4: 8 records"),
        (COMMITS, "Which commit has the most insertions?", "greatest insertion: 190, 180, 170"),
        (COMMITS, "What was committed since 25 February?", "Date≥2026-02-25: 3 records"),
        (MAILS, "What is the last mail of Bob?", 'From has "bob": 6 records; greatest Date: '),
        (LOG, "Where was CutOffPassed raised?", 'text has "cut" and "off" and "passed": 1 record'),
        (LOG, "What took over 88 ms?", "ms>88: 1 record"),
        (CODE, "Which functions have a limit above 120?", "limit>120: 3 records"),
        (CODE, "Which raise Full?", 'text has "full" and "raise": 3 records'),
        ("\n".join(f"{n} apples" for n in range(30)), "Which line has 17 apples?", ""),
    ],
)
def test_records_are_asked_like_rows(text: str, request_text: str, reading: str) -> None:
    found = readings(text, request_text)
    assert any(each.startswith(reading) for each in found) or not reading, found


def test_all_tables_of_a_text_are_named() -> None:
    text = "\n\n".join(
        "\n".join(line.replace("0", f"{n}") for n in range(30)) for line in ("w-0 10.1.1.0 0", "0 /srv/0 0")
    )
    shown = preview(text, limit=150, opening="$cold.1", counter=lambda text: len(text) // 4)
    assert "\nfields: 30 rows; […3 columns]\nfields_2: 30 rows; […3 columns]\n" in shown


def test_the_lines_that_a_table_leaves_out_are_named() -> None:
    lines = (
        f"2026-01-{1 + n % 28:02d}T00:00:00Z {'ok' if n % 17 else 'stuck valve'} MTR-{n} {n}.5" for n in range(300)
    )
    shown = preview("\n".join(lines), limit=500, opening="$cold.1", counter=lambda text: len(text) // 4)
    assert "\nfields: 282 rows; " in shown and "lines 1, 18, 35, " in shown


def test_what_a_mail_quotes_is_not_what_it_says() -> None:
    records = read_records(MAILS)
    assert records is not None
    assert records.table.columns[:4] == ("From", "To", "Date", "Subject")
    assert all("unknown" not in row["text"] for row in records.table.rows)
    shown = preview(MAILS, limit=300, opening="$cold.1", counter=lambda text: len(text) // 4, request="fee of crane 12")
    assert "The fee of crane 12 is 84 euros." in shown
    assert "unknown" not in shown


def test_an_entry_of_a_log_has_the_lines_below_it() -> None:
    shown = preview(LOG, limit=200, opening="$cold.1", counter=lambda text: len(text) // 4, request="What failed?")
    # One place that has some of the words is no answer: it is shown, and not counted.
    assert "text has" not in shown
    assert "CutOffPassed: too late" in shown


def test_the_table_of_a_query_has_the_number_of_the_first_line_and_each_name_once() -> None:
    table = table_of_records(read_records("\n".join(f"Time: {n}\ntime: x\nn: {n}\nbody {n}\n" for n in range(9))))
    assert table is not None
    assert table.columns == ("n", "Time", "text")
    assert table.rows[1] == {"n": 6, "Time": 1, "text": "body 1"}
    assert table_of_records(read_records("abc\n" * 30)) is None
    assert table_of_records(read_records("abc")) is None


def test_colours_of_a_terminal_are_no_columns() -> None:
    text = "".join(f"2026-01-01T00:00:0{n % 9}Z \x1b[32m{n} ms\x1b[0m\n" for n in range(30))
    table = table_of_records(read_records(text))
    assert table is not None
    assert table.columns == ("n", "time", "text", "ms")
