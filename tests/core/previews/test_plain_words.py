"""Words that a sentence needs, and sentences about the form of the reply, name nothing that is looked for."""

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
(TABLE,) = tables_of(ORDERS)


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Which orders are on hold?", "status=on_hold: 10 rows"),
        ("Which orders are on-hold?", "status=on_hold: 10 rows"),
        ("Which orders are in-transit or on_hold?", "status=on_hold|in_transit: 20 rows"),
        ("Which ones are still in transit?", "status=in_transit: 10 rows"),
        ("Who sleeps in the old mill?", "hotel=The Old Mill: 14 rows"),
        ("Who sleeps in Old Mill?", 'hotel has "mill" and "old": 14 rows'),
    ],
)
def test_they_belong_to_the_words_beside_them(request_text: str, told: str) -> None:
    assert [each.conditions for each in find_named_rows(TABLE, Request(request_text))] == [told]
