"""What a preview says of a column of several kinds: each is counted, and null is told from absent."""

import json

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits, compress

ROWS = [
    *(
        {"key": f"A-{n}", "text": f"word {n} " * 20, "by": {"name": f"Ann {n}", "mail": f"{n}@x.org"}}
        for n in range(66)
    ),
    *({"key": f"B-{n}", "text": f"word {n} " * 20, "by": None} for n in range(12)),
    *({"key": f"C-{n}", "text": f"word {n} " * 20} for n in range(3)),
]


def preview_of(value: object) -> str:
    limits = ResultLimits(inline=100, preview=600)
    return compress(json.dumps(value), limits=limits, counter=o200k_base(), open_with="accp_fetch").text


def test_null_absent_and_objects_are_counted_apart() -> None:
    assert "; by: maps of 2 (66) or null (12), absent (3)" in preview_of(ROWS)


@pytest.mark.parametrize("count", [4, 81])
def test_rows_show_what_is_in_an_object_once(count: int) -> None:
    shown = preview_of([*ROWS[-15:], *ROWS[:count]])
    assert "Ann 0" in shown
    assert shown.count("0@x.org") == 1
