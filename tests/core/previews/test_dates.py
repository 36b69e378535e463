"""The numbers and the moments that a request names."""

import pytest

from accp_core.previews.request import Request


@pytest.mark.parametrize(
    ("request_text", "asked"),
    [
        ("events in August 2024", [("", "2024-08-??")]),
        ("before 10:30 on February 11, 2025", [("<", "????-??-??T10:30"), ("", "2025-02-11")]),
        ("lunches before the 19th", [("<", "????-??-19")]),
        ("since 1 February", [("≥", "????-02-01")]),
        ("until 2026-02-20", [("≤", "2026-02-20")]),
        ("after the 3rd of May", [(">", "????-05-03")]),
        ("orders of 2025", [("", "2025-??-??")]),
        ("may I see what was lost in may", [("", "????-05-??")]),
        ("between midnight and 2 o'clock", [("≥", "????-??-??T00:00"), ("≤", "????-??-??T02:00")]),
        ("placed at 6 in the evening", [("", "????-??-??T18:00")]),
        ("rows 2000 to 2040", [("", "2000 to"), ("", "2040 ")]),
        ("three pieces or more, negative", [("≥", "3 pieces"), ("<", "0 ")]),
        ("took over half a minute, or over 1.5 km/h", [(">", "0.5 minute"), (">", "1.5 km/h")]),
        ("more than ten thousand in version 5.2.1 of SO-35", [(">", "10000 in")]),
    ],
)
def test_values_of_a_request_are_read(request_text: str, asked: list[tuple[str, str]]) -> None:
    found = Request(request_text).asked
    assert [(each.sign, each.moment or f"{each.number} {each.unit}") for each in found] == asked
