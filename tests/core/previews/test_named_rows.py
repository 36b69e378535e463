"""A preview says how many rows have the values that the request names, and shows them where they fit."""

import json
from typing import Any

import pytest

from accp_core.previews import preview
from accp_core.previews.conditions import NamedRows, find_named_rows
from accp_core.previews.request import Request
from accp_core.tables import tables_of

STATUSES = ("paid", "sent", "late", "rolled back")
WAREHOUSES = ("north", "south", "harbour")
ORDERS: list[dict[str, Any]] = [
    {
        "id": f"O-{number}",
        "status": STATUSES[number % 4],
        "warehouse": WAREHOUSES[number % 3],
        "total": number * 1.25,
        "items": number % 11,
        "note": f"left with neighbour {number}",
    }
    for number in range(120)
]


def words(char_count: str) -> int:
    return len(char_count) // 4


def named(rows: list[dict[str, Any]], request: str) -> tuple[NamedRows, ...]:
    (table,) = tables_of(rows)
    return find_named_rows(table, Request(request))


def shown(request: str, limit: int = 700, rows: list[dict[str, Any]] = ORDERS) -> str:
    return preview(json.dumps(rows), limit=limit, opening="accp_fetch $cold.abc", counter=words, request=request)


def test_what_all_long_cells_say_gives_way_to_what_one_says() -> None:
    """The cells are alike but for one sentence; the preview shows this sentence, though others stand before it."""
    common = "The parcel came in time and the box was whole. Nobody has answered my letters since the first of May. "
    rows = [{"id": n, "text": common + f"I live in house {n} of the street. " + common} for n in range(60)]
    rows[31]["text"] = common + "A courier smelled of diesel and sang. " + common
    assert "diesel" in shown("Which customer writes that the courier smelled of diesel?", 900, rows)


PODS: list[dict[str, Any]] = [
    {
        "name": f"pod-{number:02}",
        "nodeName": None if number % 10 == 3 else f"node-{number % 4}",
        "restartCount": number * 7 % 60,
        "memory": str(number * 100_000_000),
        "startedAt": f"2026-02-{number % 27 + 1:02}T{number % 24:02}:30:00Z",
        "day": f"2026-02-{number % 27 + 1:02}",
        "isReady": number % 5 > 0,
        "labels": ["batch", "spot"] if number % 6 == 0 else [],
    }
    for number in range(60)
]


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("Which pods have no node yet?", "nodeName is empty: 6 rows"),
        ("Spot pods that are not ready?", "isReady=false, labels=spot: 2 rows"),
        ("Which pods of node-0 are not ready?", "nodeName=node-0, isReady=false: 3 rows"),
        ("pods with more than 5 GB of memory", "memory>5000000000: 9 rows"),
        ("restarts of 50 or more", "restartCount≥50: 10 rows"),
        ("restarts >= 50", "restartCount≥50: 10 rows"),
        ("restarted fewer than three times", "restartCount<3: 3 rows"),
        ("started before 6 in the morning", "time of startedAt<06:00: 18 rows"),
        ("never over 99 restarts, but a spot pod", "labels=spot: 10 rows"),
        ("pods without a nodename that started before a holiday", "nodeName is empty: 6 rows"),
        ("pods that have no labels", "labels is empty: 50 rows"),
        ("started after 22:15", "time of startedAt>22:15: 4 rows"),
        ("started since 2026-02-20", "startedAt≥2026-02-20: 16 rows"),
    ],
)
def test_conditions_are_read_from_general_words(request_text: str, line: str) -> None:
    conditions = [each.conditions for each in named(PODS, request_text)]
    assert line in conditions


def test_what_is_denied_is_the_no_of_a_column_and_not_its_gaps() -> None:
    rows = [{"id": n, "would buy again": ("yes", "no", "maybe", "n/a")[n % 4]} for n in range(40)]
    assert {each.conditions for each in named(rows, "Who would not buy again?")} == {'"would buy again"=no: 10 rows'}


def test_rows_that_are_shown_below_a_condition_meet_it() -> None:
    rows = [
        {"id": f"A-{n:04}", "who": "Groß" if n % 3 else "Weber", "note": "late" if n % 2 else "sent"}
        for n in range(900)
    ]
    lines = shown("which of Groß are late", 300, rows).splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith("who=Groß, note=late: 300 rows"))
    assert lines[at + 1].startswith("[") and "Groß late" in lines[at + 2]


ISSUES = [
    {
        "number": 4100 + n,
        "title": f"Issue of the {n}th kind",
        "state": "open" if n % 2 else "closed",
        "comments": n * 13 % 90,
        "labels": [{"name": "regression" if n % 9 == 0 else "bug"}, {"name": "docs"}],
        "body": f"It was seen {n} times. " * 4,
    }
    for n in range(60)
]


def test_rows_of_a_child_table_are_asked_for_by_what_their_parents_say() -> None:
    text = shown("Which open issues are regressions?", 500, ISSUES)
    wanted = [issue for issue in ISSUES if issue["state"] == "open" and {"name": "regression"} in issue["labels"]]
    assert f"\nrows.state=open, name=regression: {len(wanted)} rows, all shown" in text
    assert [issue["title"] for issue in wanted if issue["title"] not in text] == []


def test_a_table_that_grows_in_steps_is_not_left_out() -> None:
    """Less room may give the same text, which was too long, again and again."""
    orders = [{"id": f"SO-{n}", "at": f"2026-01-{n % 28 + 1:02}T16:00:35+01:00", "note": "x" * 80} for n in range(90)]
    for limit in range(60, 400, 20):
        assert len(shown("order SO-35", limit, orders).split("\n")) > 1


LEASES: list[dict[str, Any]] = [
    {
        "contract": f"LS-{number:03}/{number * 7 % 1000:03}",
        "customer": f"C-{1000 + number * 13}",
        "device": f"XY-{number * 31 % 997}-{number}",
        "model": f"Model {number * 17 % 89} of {number}",
        "pieces": 1 + number * number % 7,
        "monthly": number * 3.25,
        "came back": number % 11 == 0,
        "signed_by": f"Ann {number} Lee",
    }
    for number in range(100)
]


def test_flags_are_counted_where_other_columns_are_only_named() -> None:
    schema = shown("Which leases have three or more pieces?", 400, LEASES).splitlines()[1]
    assert "; model; " in schema
    assert '"came back": false (90), true (10)' in schema


def test_rows_of_several_lines_have_headers_of_their_own() -> None:
    rows = [{"id": f"T-{number}", "body": f'Line {number}\nsays "so"\nand\nends'} for number in range(60)]
    first, _, others = shown("what does T-41 say?", 300, rows).partition("\nother rows:\n")
    assert '[{\nid T-41\nbody """' in first
    assert others.startswith("[")


def test_an_order_that_is_asked_for_twice_is_said_once() -> None:
    (line,) = shown("the greatest total, the largest total", 900).splitlines()[2:3]
    assert line.count("greatest total") == 1
