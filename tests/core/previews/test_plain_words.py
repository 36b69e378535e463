"""What a request names: the words of a value as one run, a number in one place, and alternatives as such."""

from collections.abc import Sequence

import pytest

from accp_core.previews.conditions import find_named_rows
from accp_core.previews.request import Request
from accp_core.tables import tables_of

ORDERS = [
    {
        "id": f"O-{number}",
        "status": ("delivered", "on_hold", "in_transit", "for")[number % 4],
        "hotel": ("The Old Mill", "All Saints", "Riverside")[number % 3],
    }
    for number in range(40)
]
SCORES = [
    {
        "team": f"team-{number}",
        "user": f"User {number % 24 + 1}",
        "level": ("Level 2", "Level 3", "over 65")[number % 3],
        "state": ("late", "open", "paid")[number % 3],
        "score": number % 60,
        "qty": number % 9,
        "at": f"2026-{number % 4 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:30",
        "age": f"{number % 12} days ago",
    }
    for number in range(240)
]


@pytest.mark.parametrize(
    ("rows", "request_text", "told"),
    [
        (ORDERS, "Which orders are on hold?", ["status=on_hold: 10 rows"]),
        (ORDERS, "Which orders are on-hold?", ["status=on_hold: 10 rows"]),
        (ORDERS, "Which orders are in-transit or on_hold?", ["status=on_hold|in_transit: 20 rows"]),
        (ORDERS, "Which ones are still in transit?", ["status=in_transit: 10 rows"]),
        (ORDERS, "Who sleeps in the old mill?", ["hotel=The Old Mill: 14 rows"]),
        (ORDERS, "Who sleeps in Old Mill?", ['hotel has "mill" and "old": 14 rows']),
        (SCORES, "User 5's score above 24", ["user=User 5, score>24: 6 rows"]),
        (SCORES, "score of USER 1 over 20", ["user=User 1: 10 rows"]),
        (SCORES, "User 1 after 10 pm", ["user=User 1: 10 rows"]),
        (SCORES, "user 4 in level 2", ["user=User 4, level=Level 2: 10 rows"]),
        (SCORES, "user 1, 2 and 3", ["user=User 1|User 2|User 3: 30 rows"]),
        (SCORES, "user 1, 4 rows", ["user=User 1: 10 rows"]),
        (SCORES, "not user 3", ["user≠User 3: 230 rows"]),
        (SCORES, "age fewer than 4 days ago", []),
        (SCORES, "level over 65", ["level=over 65: 80 rows"]),
        (SCORES, "qty 5 or 6", ["qty=5|6: 53 rows"]),
        (SCORES, "qty 3 to 5", []),
        (SCORES, "user 3 to 5", []),
        (SCORES, "score over 50 or under 10", ["score>50: 36 rows", "score<10: 40 rows"]),
        (SCORES, "score not between 10 and 50", ["score<10: 40 rows", "score>50: 36 rows"]),
        (SCORES, "late or score>50", ["state=late: 80 rows", "score>50: 36 rows"]),
        (SCORES, "user 1 or late ones with a score over 50", []),
        (SCORES, "late or score between 10 and 20", []),
        (SCORES, "from 5 March to 9 March", ["at≥2026-03-05, at≤2026-03-09: 9 rows"]),
        (SCORES, "in March or April", ["at in 2026-03: 60 rows", "at in 2026-04: 60 rows"]),
        (SCORES, "score over 50 or more than 5 qty", ["score>50: 36 rows", "qty>5: 78 rows"]),
    ],
)
def test_a_condition_is_what_the_request_says(rows: Sequence[object], request_text: str, told: list[str]) -> None:
    (table,) = tables_of(rows)
    assert [each.conditions for each in find_named_rows(table, Request(request_text))] == told
