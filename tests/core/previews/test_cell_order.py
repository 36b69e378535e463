"""Numbers and times are ordered however programs write them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from accp_core.previews.asked.cell_order import convert, is_empty, order_of
from accp_core.previews.asked.times import date_parts_of


@pytest.mark.parametrize(
    ("cells", "keys", "unit"),
    [
        (["9.5", "10", None], ["9.5", "10", None], ""),
        (["2,202.50", "42.50"], ["2202.50", "42.50"], ""),
        (["2.500,00", "-", "12.000,00"], ["2500.00", None, "12000.00"], ""),
        (["5.3 km", "0.2 km"], ["5.3", "0.2"], "km"),
        (["96 (48m ago)", "0", "8 (10m ago)"], ["96", "0", "8"], ""),
        (["4 / 10", "9 / 10"], ["4", "9"], ""),
        (["3d4h", "26d", "9d5h"], ["273600", "2246400", "795600"], "s"),
        (["1.2G", "14K", "3"], ["1288490188.8", "14336", "3"], "b"),
        (["12 MB", "3 kB"], ["12000000", "3000"], "b"),
        ([3, 2.5], ["3", "2.5"], ""),
    ],
)
def test_numbers_are_read_in_the_notation_of_their_column(cells: list[Any], keys: list[Any], unit: str) -> None:
    order = order_of(cells)
    assert order is not None and not order.is_time
    assert [key if key is None else Decimal(f"{key}") for key in order.keys] == [
        key if key is None else Decimal(key) for key in keys
    ]
    assert order.unit == unit


@pytest.mark.parametrize(
    "cells",
    [
        [],
        ["0069", "1234"],
        ["7", "7"],
        [True, False],
        ["4 / 10", "3 / 5"],
        ["a", "b"],
        ["5 km", "5 kB"],
        [1, "2 km"],
        ["9" * 60, "8,000"],
        ["5 apples", "6 pears"],
        ["3x4y", "2x1y"],
        ["1,5", "1.5 km", "x"],
        [["a"], ["b"]],
    ],
)
def test_what_is_no_number_has_no_order(cells: list[Any]) -> None:
    assert order_of(cells) is None


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("2026-02-17T14:00Z", "2026-02-17T14:00"),
        ("17/Feb/2026:14:00:00 +0100", "2026-02-17T14:00:00"),
        ("Aug 5, 2024", "2024-08-05"),
        ("5 August 2024 at 9:05", "2024-08-05T09:05"),
        ("Wed Feb 4 09:01:00 2026 +0100", "2026-02-04T09:01:00"),
        ("Mon, 09 Feb 2026 09:12:31 +0100", "2026-02-09T09:12:31"),
        ("Feb 17 04:37:07", "0000-02-17T04:37:07"),
        ("20250907T100000Z", "2025-09-07T10:00:00"),
        ("31/01/2026 10:14", "2026-01-31T10:14"),
        ("01/31/2026", "2026-01-31"),
        ("02.03.2026", "2026-03-02"),
        ("2026-02", "2026-02"),
        ("9:05:01,5", "T09:05:01.5"),
    ],
)
def test_times_are_read_in_every_form(text: str, key: str) -> None:
    other = text.replace("9", "8").replace("4", "3").replace("31", "30").replace("10:1", "10:2")
    order = order_of([text, other if other != text else text.replace("2", "1")])
    assert order is not None and order.is_time
    assert order.keys[0] == key


@pytest.mark.parametrize(
    "cells",
    [
        ["01/02/2026", "03/02/2026"],
        ["31/01/2026", "01/31/2026"],
        ["2026-13-01", "2026-01-01"],
        ["13:05", "2026-01-01"],
        ["Dec 31 04:37:07", "Jan 1 04:37:07"],
        ["Dec 31 04:37:07", "Jan 1, 2026"],
        ["2026-01-01T10:00Z", "2026-01-01T10:00"],
        ["2026-01-01T10:00Z", "2026-01-01T99:00+01:00"],
        ["10:00 +0100", "11:00 +0200"],
        ["2026-01-01T10:00:00.123456789123456789123456789Z", "x"],
    ],
)
def test_times_whose_order_is_not_known_have_none(cells: list[Any]) -> None:
    assert order_of(cells) is None


def test_times_with_other_offsets_are_ordered_by_the_moment() -> None:
    order = order_of(["2026-01-01T10:00:00+02:00", "2026-01-01T09:00:00Z", "2026-01-01T07:30:00-01:00"])
    assert order is not None
    assert sorted(range(3), key=order.ranks.__getitem__) == [0, 2, 1]
    assert order.keys[0] == "2026-01-01T10:00:00"


def test_units_of_one_kind_are_converted() -> None:
    assert convert(Decimal(5), "mb", "kb") == 5000
    assert convert(Decimal(2), "hours", "minutes") == 120
    assert convert(Decimal(2), "hours", "kb") is None
    assert is_empty(" N/A ") and is_empty([]) and not is_empty(0)


@pytest.mark.parametrize(
    ("request_text", "parts"),
    [
        ("events in August 2024", [("", "2024-08-?")]),
        ("before 10:30 on February 11, 2025", [("", "2025-02-11")]),
        ("lunches before the 19th", [("<", "?-?-19")]),
        ("since 1 February", [("≥", "?-02-01")]),
        ("until 2026-02-20", [("≤", "2026-02-20")]),
        ("after the 3rd of May", [(">", "?-05-03")]),
        ("orders of 2025", [("", "2025-?-?")]),
        ("may I see what 2000 cost in may", [("", "?-05-?")]),
        ("may I see rows 2000 to 2040", []),
    ],
)
def test_dates_of_a_request_are_read(request_text: str, parts: list[tuple[str, str]]) -> None:
    assert [(date.sign, date.text) for date in date_parts_of(request_text)[0]] == parts


def test_a_date_has_the_times_in_it() -> None:
    (month,), _ = date_parts_of("in August 2024")
    assert month.has("2024-08-05T10:00") and not month.has("2024-09-05") and not month.has("2024")
    (day,), _ = date_parts_of("on the 5th")
    assert day.prefix(["2024-08-05", "2024-08-06"]) == "2024-08-05"
    assert day.prefix(["2024-08-05", "2024-09-06"]) is None
