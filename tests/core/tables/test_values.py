"""Each cell is read once: numbers, moments and durations in the way of its whole column, else texts."""

import random
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from accp_core.tables import table
from accp_core.tables.values import ABSENT, Kind, convert, is_left_out, type_column


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["9.5", "10", None], [9.5, 10, None], ""),
        (["2.500,00", "-", "12.000,00"], [2500, None, 12000], ""),
        (["1\u202f204,50", "3"], [1204.5, 3], ""),
        (["1\u2019204.50", "3"], [1204.5, 3], ""),
        (["$98,249.00", "-$5", "($6.50)", "$(7)", "N/A", ""], [98249, -5, -6.5, -7, None, None], "$"),
        (["84 km", "1.000,20 km"], [84, 1000.2], "km"),
        (["CHF 1'234", "CHF 99", "CHF -12'000"], [1234, 99, -12000], "CHF"),
        (["Rp 234.000", "Rp 1.500.000"], [234000, 1500000], "Rp"),
        (["1\u00a0234,50\u00a0\u20ac", "99,00\u202f\u20ac"], [1234.5, 99], "\u20ac"),
        (["Rs. 1,23,456.00", "Rs. 99.00"], [123456, 99], "Rs."),
        (["1.234,50-", "99,00"], [-1234.5, 99], ""),
        (["12'000.-", "99.-"], [12000, 99], ""),
        (["\uffe5\uff11\uff0c\uff12\uff13\uff14", "\uffe5\uff15\uff16"], [1234, 56], "\u00a5"),
        (["\u0661\u0662\u0663", "\uff0d"], [123, None], ""),
        (["$1.2M", "$900K", "$5"], [1200000, 900000, 5], "$"),
        (["US$ 1M", "US$ 2M"], [1000000, 2000000], "US$"),
        (["1.2B", "900M", "3K"], [1200000000, 900000000, 3000], ""),
        (["12 %", "3%"], [12, 3], "%"),
        (["6.14e+07", "\u22121", "+.5"], [61400000, -1, 0.5], ""),
        (["96 (48m ago)", "0", "8 (10m ago)"], [96, 0, 8], ""),
        (["4 / 10", "9 / 10"], [4, 9], ""),
        (["1.2G", "14K", "3"], [1288490188.8, 14336, 3], "bytes"),
        (["12 MB", "3 kB"], [12000000, 3000], "bytes"),
        (["8192 bytes", "16 kB", "2 MB"], [8192, 16384, 2097152], "bytes"),
        (["12K", "1.2M", "980"], [12000, 1200000, 980], ""),
        ([3, 2.5, None, ABSENT], [3, 2.5, None, None], ""),
        ([1, "7", "none"], [1, 7, None], ""),
    ],
)
def test_numbers_are_read_in_the_notation_and_the_unit_of_their_column(
    cells: list[Any], values: list[Any], unit: str
) -> None:
    typed = type_column(cells)
    assert (typed.kind, list(typed.values), typed.unit) == (Kind.NUMBER, values, unit)


@pytest.mark.parametrize(
    "cells",
    [
        ["0069", "1234"],
        ["(12)", "34"],
        ["5", "+5"],
        ["10.0.0.1"],
        ["4 / 10", "3 / 5"],
        ["1.8", "1.9", "1.10"],
        ["250m", "2"],
        ["2048", "1.2g", "500m"],
        ["LOT 12", "LOT 13"],
        ["v1.25", "v1.26"],
        ["R$ 5,00", "$ 5.00"],
        ["1,234.50 CR", "9.00 DR"],
        ["\u20ac 1.234", "\u20ac 5.678"],
        ["18-", "65-"],
        ["5 km", "5 kB"],
        ["5m", "3M"],
        ["2B", "900M"],
        ["$5 mln"],
        [1, "2 km"],
        ["9" * 60, "8,000"],
        [2**64, 2**64 + 1],
        [["a"], ["b"]],
        ["01/02/2026", "03/02/2026"],
        ["31/01/2026", "01/31/2026"],
        ["2026-02-30", "2026-01-01"],
        ["13:05", "2026-01-01"],
        ["Dec 31 04:37:07", "Jan 1 04:37:07"],
        ["Dec 31 04:37:07", "Jan 1, 2026"],
        ["2026-01-01T10:00Z", "2026-01-01T10:00"],
        ["2026-01-01T10:00Z", "2026-01-01T99:00+01:00"],
        ["10:00 +0100", "11:00 +0200"],
        ["2:05", "1h"],
        ["P1M", "PT1H"],
    ],
)
def test_what_cannot_be_read_as_one_kind_is_texts(cells: list[Any]) -> None:
    typed = type_column(cells)
    assert (typed.kind, list(typed.values)) == (Kind.TEXT, cells)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["17/Feb/2026:14:00:00 +0100"], "2026-02-17T13:00:00Z"),
        (["Aug 5, 2024"], "2024-08-05"),
        (["5 August 2024 at 9:05"], "2024-08-05T09:05:00"),
        (["Wed Feb 4 09:01:00 2026 +0100"], "2026-02-04T08:01:00Z"),
        (["Feb 17 04:37:07"], "0000-02-17T04:37:07"),
        (["20250907T100000Z"], "2025-09-07T10:00:00Z"),
        (["2026\u5e746\u67081\u65e5 9:05", "2026. 12. 1."], "2026-06-01T09:05:00"),
        (["31/01/2026 10:14"], "2026-01-31T10:14:00"),
        (["03/04/2026", "05/26/2026"], "2026-03-04"),
        (["03/04/2026", "26/05/2026"], "2026-04-03"),
        (["02.03.2026", "-"], "2026-03-02"),
        (["2026-02"], "2026-02"),
        (["2026-01-05", "2026-01-05T10:00"], "2026-01-05T00:00:00"),
        (["2026-01-05 02:30 PM"], "2026-01-05T14:30:00"),
        (["9:05:01,5", "10:00:00"], "09:05:01.5"),
        (["59:58", "0:03"], "59:58"),
        (["2026-01-01T10:00:00+02:00", "2026-01-01T09:00:00.25Z"], "2026-01-01T08:00:00.00Z"),
    ],
)
def test_moments_are_read_in_every_form(cells: list[Any], first: str) -> None:
    typed = type_column(cells)
    assert (typed.kind, typed.values[0]) == (Kind.MOMENT, first)
    assert typed.read(cells[0]) == first


def test_a_further_text_is_read_as_the_cells_of_its_column() -> None:
    moments, days = type_column(["2027-02-10T06:00+01:00"]), type_column(["03/04/2026", "05/26/2026"])
    read = [moments.read(text) for text in ("2027-02-10", "2027-02", "2027-02-10T06:00+02:00", "late")]
    assert read == ["2027-02-10T00:00:00Z", "2027-02", "2027-02-10T04:00:00Z", None]
    assert (days.read("01/02/2026"), days.read("2026-01-02T10:00")) == ("2026-01-02", "2026-01-02T10:00:00")
    dollars, clock, sizes = map(type_column, (["$98,249.00"], ["59:58", "0:03"], ["12K", "3M"]))
    assert [dollars.read(text) for text in ("$5", "5,000", "($5)", "5 kg", "x")] == [5, 5000, -5, None, None]
    assert [clock.read(text) for text in ("1:05", "1:05:00", "5m")] == ["01:05", None, None]
    assert [sizes.read(text) for text in ("1M", "1 MB", "1 MiB", "1 s")] == [1_000_000, 1_000_000, 1_048_576, None]


def test_booleans_durations_and_nothing() -> None:
    assert type_column(["true", "false", ""]).values == [True, False, None]
    assert type_column([True, None]).kind is Kind.BOOLEAN
    assert type_column(["3d4h", "26d", "1h 30m", "P1DT2H", "PT45M"]).values == [273600, 2246400, 5400, 93600, 2700]
    elapsed = type_column(["11-02:00:00", "20:10:05", "59:58", "300:11", "-", "5:26.10"])
    assert elapsed.values == [957600, 72605, 3598, 18011, None, 326.1]
    assert [elapsed.read(text) for text in ("01:00:00", "1h", "9", "5:99")] == [3600, 3600, None, None]
    # GTFS Schedule Reference, type Time: a service day has hours over 24. `14:05` beside them may be minutes.
    assert [type_column(["08:05:00", "25:35:00"]).read(text) for text in ("24:00:00", "14:05")] == [86400, None]
    assert type_column([None, ABSENT]).kind is Kind.NOTHING
    assert type_column(["$5", "N/A", "", None]).left_out == 2
    assert is_left_out(" N/A ") and is_left_out([]) and not is_left_out(0)


def test_the_commas_of_a_table_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr(table, "writes_commas", lambda cells: looked.append(cells))
    only = table.Table(name="rows", path=(), columns=("a", "b"), rows=[{"a": "$1.5", "b": "$2.5"}])
    assert [type_column([row[name]], only).values for row in only.rows for name in row] == [[1.5], [2.5]]
    assert len(looked) == 2


def test_units_of_one_kind_are_converted() -> None:
    assert convert(Decimal(5), "mb", "kb") == 5000
    assert convert(Decimal(2), "hours", "minutes") == 120
    assert convert(Decimal(2), "hours", "kb") is None


@pytest.mark.parametrize("seed", range(20))
def test_random_moments_are_ordered_as_they_are(seed: int) -> None:
    rng = random.Random(seed)
    moments = [
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(minutes=30 * rng.randrange(-20, 20))))
        + timedelta(seconds=rng.randrange(10**7))
        for _ in range(30)
    ]
    typed = type_column([moment.isoformat(rng.choice(["T", " "])) for moment in moments])
    assert typed.values == [f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat()}Z" for moment in moments]
