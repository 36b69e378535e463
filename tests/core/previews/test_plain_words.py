"""Words that a sentence needs, and sentences about the form of the reply, name nothing that is looked for."""

from __future__ import annotations

import json

import pytest

from accp_core.previews import preview
from accp_core.previews.asked.named_rows import find_named_rows
from accp_core.previews.asked.request import Request
from accp_core.tables import tables_of

ASKED = "Which parcels went to Graz?"
PARCELS = [
    {
        "id": f"P-{number}",
        "city": ("Graz", "Lyon", "Porto")[number % 3],
        "state": ("sent", "holds", "alone")[number // 3 % 3],
        "note": f"one line of parcel {number}",
    }
    for number in range(90)
]


@pytest.mark.parametrize(
    "form",
    [
        "End with one line that begins with `Answer:` and holds the answer alone.",
        "Answer with the ids only.",
        "Reply in one sentence.",
        "Please answer briefly, holds are no matter.",
        "Separate several ids by commas.",
        "Write it as JSON.",
        "Write each on a line of its own, with what it holds.",
        "Give the answer alone, in one word.",
        "Your answer must be one line.",
        "Return only JSON.",
    ],
)
def test_a_sentence_about_the_reply_asks_for_no_rows(form: str) -> None:
    def shown(request: str) -> str:
        return preview(json.dumps(PARCELS), limit=500, opening="$cold.abc", counter=len, request=request)

    assert Request(f"{ASKED} {form}").words == Request(ASKED).words
    assert Request(f"{form}\n{ASKED}").words == Request(ASKED).words
    assert shown(f"{ASKED} {form}") == shown(ASKED)


@pytest.mark.parametrize(
    "asked",
    [
        "Start with the oldest order.",
        "Write a summary of the late parcels.",
        "Return the lines with errors.",
        "Give me the article numbers of its order.",
        "Reply to the ticket of Ann.",
        "End the contracts of Graz.",
        "List the parcels as JSON.",
        "Use the JSON files over 2 MB.",
    ],
)
def test_what_a_sentence_asks_for_is_kept(asked: str) -> None:
    assert Request(f"{ASKED} {asked}").words == Request(ASKED).words | Request(asked).words


def test_where_nothing_else_is_left_the_sentence_is_the_request() -> None:
    assert "graz" in Request("Answer with the parcels of Graz.").words


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
    "request_text",
    [
        "Which cars hold boxes that are still on the way?",
        "What are they waiting for? The boxes hold glass, for all we know.",
        "Put on the light, then hold it.",
    ],
)
def test_words_that_a_sentence_needs_name_no_value(request_text: str) -> None:
    assert [each.conditions for each in find_named_rows(TABLE, Request(request_text)) if each.is_sure] == []


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Which orders are on hold?", "status=on_hold: 10 rows"),
        ("Which ones are still in transit?", "status=in_transit: 10 rows"),
        ("Who sleeps in the old mill?", "hotel=The Old Mill: 14 rows"),
        ("Who sleeps in Old Mill?", "hotel=The Old Mill: 14 rows"),
    ],
)
def test_they_belong_to_the_words_beside_them(request_text: str, told: str) -> None:
    assert [each.conditions for each in find_named_rows(TABLE, Request(request_text))] == [told]
