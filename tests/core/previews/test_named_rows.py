"""A preview says how many rows have the values that the request names, and shows them where they fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_core.previews import preview
from accp_core.previews.asked.named_rows import NamedRows, find_named_rows
from accp_core.previews.asked.request import Request
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


def one_named(rows: list[dict[str, Any]], request: str) -> NamedRows | None:
    """Return what a request with one reading names."""
    found = named(rows, request)
    assert len(found) <= 1
    return found[0] if found else None


def shown(request: str, limit: int = 700, rows: list[dict[str, Any]] = ORDERS) -> str:
    return preview(json.dumps(rows), limit=limit, opening="accp_fetch $cold.abc", counter=words, request=request)


def test_a_request_without_blanks_names_values() -> None:
    cities, states = ("上海", "北京", "广州"), ("已付款", "已退货")
    rows = [{"城市": cities[number % 3], "状态": states[number % 2], "金额": number} for number in range(60)]
    found = one_named(rows, "上海有哪些已退货的订单")
    assert found is not None
    assert found.numbers == {number for number in range(60) if number % 3 == 0 and number % 2 == 1}
    assert found.describe(are_shown=False) == "城市=上海, 状态=已退货: 10 rows; 金额: 3 to 57, sum 300"


def test_the_rows_are_counted_summed_and_all_shown() -> None:
    text = shown("Which orders of the warehouse south are late?")
    late = [row for row in ORDERS if row["status"] == "late" and row["warehouse"] == "south"]
    total, items = sum(row["total"] for row in late), sum(row["items"] for row in late)
    line = (
        f"status=late, warehouse=south: {len(late)} rows, all shown; total: {late[0]['total']} to {late[-1]['total']}, "
        f"sum {total:g}; items: 0 to 10, sum {items}"
    )
    assert line in text.splitlines()
    assert [row["id"] for row in late if row["id"] not in text] == []


def test_too_many_rows_are_counted_and_their_first_ones_shown() -> None:
    text = shown("What is the greatest total of a paid, sent or late order?", 300)
    assert "\nstatus=paid|sent|late: 90 rows; greatest total: 147.5, 146.25, 145.0" in text
    assert "O-118 " in text


def test_a_value_of_several_words_is_named_by_all_of_them() -> None:
    assert "status=rolled back: 30 rows" in shown("How many were rolled back?")
    assert "\nstatus=" not in shown("How many came back?")


@pytest.mark.parametrize(
    "request_text", ["", "How many orders are there?", "paid sent late rolled back", "paid north LATE-ish harbours"]
)
def test_a_request_that_names_no_value_or_all_adds_nothing(request_text: str) -> None:
    found = one_named(ORDERS, request_text)
    assert found is None or "north" in found.conditions


def test_values_that_no_row_has_together_are_readings_of_their_own() -> None:
    rows = [{"id": n, "a": "left" if n % 2 else "right", "b": "lower" if n % 2 else "upper"} for n in range(40)]
    assert [each.conditions for each in named(rows, "left upper")] == ["a=left: 20 rows", "b=upper: 20 rows"]


def test_one_row_has_its_numbers_and_ids_have_no_range() -> None:
    rows = [{"user_id": n, "kind": "odd one" if n == 7 else "plain", "n": n} for n in range(40)]
    found = one_named(rows, "the odd one")
    assert found is not None
    assert found.describe(are_shown=True) == "kind=odd one: 1 row, all shown"


def test_a_sum_of_too_many_digits_is_left_out() -> None:
    rows = [{"kind": "big" if n < 3 else "plain", "n": 1e300 if n else 1.0} for n in range(40)]
    found = one_named(rows, "big")
    assert found is not None and found.ranges == "; n: 1.0 to 1e+300"


def test_values_with_signs_of_the_line_are_quoted() -> None:
    rows = [{"kind": "a: b, hot" if n % 2 else "cold"} for n in range(40)]
    found = one_named(rows, "hot") or one_named(
        [{"kind": "hot: yes" if n % 2 else "cold"} for n in range(40)], "hot yes"
    )
    assert found is not None and found.conditions == 'kind="hot: yes": 20 rows'


def test_a_value_with_a_bar_is_not_taken_for_two() -> None:
    rows = [{"status": ("late|paid", "paid", "late", "open")[n % 4]} for n in range(40)]
    found = one_named(rows, "late paid")
    assert found is not None and found.conditions == 'status="late|paid"|paid|late: 30 rows'


def test_a_line_that_takes_too_much_of_the_room_is_left_out() -> None:
    kind = "kind_of_what_was_measured_by_the_sensors_of_the_north"
    rows = [{kind: "late" if n % 2 else "paid", "n": n} for n in range(200)]
    assert "=late" not in shown("late", 40, rows)


def test_a_word_that_several_columns_have_is_a_line_for_each() -> None:
    """The word may be meant of either, and what has both is the answer to neither question."""
    rows = [
        {"n": n, "status": "late" if n % 5 == 0 else "paid", "b": "late" if n % 2 else "on time"} for n in range(270)
    ]
    lines = shown("which are late?", 700, rows).split("\n")
    found = [line.split(" rows")[0] for line in lines if "=late: " in line]
    assert found == ["status=late: 54", "b=late: 135"]


def test_different_words_in_different_columns_stay_together() -> None:
    places = ("north", "south", "west")
    rows = [
        {"a": "late" if n % 5 else "paid", "b": "late" if n % 2 else "sent", "at": places[n % 3]} for n in range(90)
    ]
    assert [each.conditions for each in named(rows, "late ones of the south")] == [
        "a=late, at=south: 24 rows",
        "b=late, at=south: 15 rows",
    ]


def test_columns_are_readings_of_their_own_where_a_third_has_the_words_of_both() -> None:
    values = {"a": ("red hot", "x1"), "b": ("blue", "x2"), "c": ("red", "blue", "x3")}
    rows = [{name: kinds[n % len(kinds)] for name, kinds in values.items()} for n in range(60)]
    assert [each.conditions for each in named(rows, "red hot blue")] == [
        "a=red hot: 30 rows",
        "b=blue: 30 rows",
        "c=red|blue: 40 rows",
    ]


def test_the_readings_of_a_request_are_bounded() -> None:
    rows = [{f"c{column}": "late" if (n + column) % 3 else "paid" for column in range(9)} for n in range(60)]
    assert len(named(rows, "late")) == 4


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
        ("Which unready pods are of node-0?", "nodeName=node-0, isReady=false: 3 rows"),
        ("pods with more than 5 GB of memory", "memory>5000000000: 9 rows"),
        ("restarts of 50 or more", "restartCount≥50: 10 rows"),
        ("restarted fewer than three times", "restartCount<3: 3 rows"),
        ("started before 6 in the morning", "time of startedAt<06:00: 18 rows"),
        ("never over 99 restarts, but a spot pod", "labels=spot: 10 rows"),
        ("pods without a nodename that started before a holiday", "nodeName is empty: 6 rows"),
        ("pods that have no labels", "labels is empty: 50 rows"),
        ("which unnamed nodes", "nodeName is empty: 6 rows"),
        ("Of which day before 22:15 is the unready pod-08?", "isReady=false: 12 rows"),
        ("started after 22:15", "time of startedAt>22:15: 4 rows"),
        ("started since 2026-02-20", "startedAt≥2026-02-20: 16 rows"),
    ],
)
def test_conditions_are_read_from_general_words(request_text: str, line: str) -> None:
    conditions = [each.conditions for each in named(PODS, request_text)]
    assert line in conditions


@pytest.mark.parametrize(
    ("request_text", "facts", "first"),
    [
        ("Which pod restarted most often?", "greatest restartCount: 59, 58, 57", {17, 34, 51}),
        ("Which one restarted least?", "least restartCount: 0, 1, 2", {0, 43, 26}),
        ("What was the latest to start?", "greatest startedAt: ", {53, 26, 52}),
    ],
)
def test_the_first_rows_of_an_order_are_named(request_text: str, facts: str, first: set[int]) -> None:
    (found,) = named(PODS, request_text)
    assert found.describe(are_shown=True).startswith(facts)
    assert set(found.first) >= first


def test_rows_that_are_asked_for_have_more_room_than_facts() -> None:
    rows = [{**order, **{f"measure{n}": f"{order['id']} {n} of 12" for n in range(12)}} for order in ORDERS]
    facts = shown("Which orders are late?", 400, rows).split("\n")[1]
    assert len(facts) < len(shown("", 400, rows).split("\n")[1])


def test_what_is_disabled_is_not_enabled() -> None:
    rows = [{"id": n, "accountEnabled": n % 9 > 0} for n in range(45)]
    assert [each.conditions for each in named(rows, "disabled ones")] == ["accountEnabled=false: 5 rows"]


def test_an_order_stands_behind_the_conditions() -> None:
    (found,) = named(PODS, "Of the spot pods, which has the largest memory?")
    assert found.conditions == "labels=spot: 10 rows"
    assert found.order.startswith("; greatest memory: 5400000000, 4800000000, 4200000000")


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


def test_all_rows_that_are_asked_for_come_before_facts_and_other_columns() -> None:
    text = shown("Which issues have over 80 comments?", 230, ISSUES)
    wanted = [issue for issue in ISSUES if issue["comments"] > 80]
    assert f"\ncomments>80: {len(wanted)} rows, all shown" in text
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


def test_rows_below_a_condition_meet_it_or_stand_apart() -> None:
    several = {row["contract"] for row in LEASES if row["pieces"] >= 3}
    apart = 0
    for limit in range(420, 1500, 60):
        text = shown("Which leases have three or more pieces?", limit, LEASES)
        assert f"\npieces≥3: {len(several)} rows" in text
        below, _, others = text.partition("other rows:")
        found = {row["contract"] for row in LEASES if f"\n{row['contract']} " in below}
        assert found <= several
        assert found
        assert f"\n[{len(found)}] contract " in below
        assert not any(contract in others for contract in several)
        apart += bool(others)
    assert apart


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
