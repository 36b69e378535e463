"""The dates that a request names."""

import pytest

from accp_core.previews.request import date_parts_of


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
