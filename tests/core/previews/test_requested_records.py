"""A preview of a text says how many lines have the words of the request, and shows those that have most of them."""

from __future__ import annotations

from accp_core.previews import preview
from accp_core.previews.asked.request import Request
from accp_core.previews.requested_records import find_requested_records

LOG = "\n".join(
    f"10:{n // 60:02}:{n % 60:02} {'ERROR' if n % 40 == 7 else 'INFO'} "
    f"{'checkout-api' if n % 2 else 'cart-api'} {'payment refused' if n % 40 == 7 else f'handled request {n}'}"
    for n in range(400)
)


def words(text: str) -> int:
    return len(text) // 4


def shown(request: str, limit: int = 500, text: str = LOG) -> str:
    return preview(text, limit=limit, opening="accp_fetch $cold.abc", counter=words, request=request)


def test_lines_with_most_words_of_the_request_are_all_shown() -> None:
    text = shown("Which errors of the checkout are there?")
    assert "\nlevel=ERROR: 10 lines, all shown\n" in text
    assert [line for line in LOG.split("\n") if "ERROR" in line and line not in text] == []


def test_lines_that_do_not_fit_are_counted_only() -> None:
    assert '\ntext has "checkout": 200 lines\n' in shown("checkout handled", 120)


def test_what_leaves_no_room_is_left_out() -> None:
    assert '"' not in shown("errors of the checkout that were refused by payment", 60).partition("\n")[2]


def test_equal_lines_are_shown_as_often_as_they_are_counted() -> None:
    text = "\n".join("job failed" if n in (3, 300) else f"step {n} of the job is done" for n in range(400))
    assert 'text has "failed": 2 lines, all shown\n' in shown("what failed", 300, text)
    found = find_requested_records(text, Request("what failed"))
    assert found is not None
    assert found.describe(lambda start, end: start < 99, 99) == 'text has "failed": 2 lines'


def readings(text: str, request: str) -> list[str]:
    found = find_requested_records(text, Request(request))
    return [each.conditions for each in found.named] if found else []


def test_a_short_text_and_a_request_without_words_name_no_line() -> None:
    assert readings("error\n" * 10, "error") == []
    assert readings(LOG, "") == []
    assert readings(LOG, "Which of these has what?") == []
    assert readings("error\n" * 200_000, "error") == []


def test_each_form_of_a_word_is_found() -> None:
    text = "\n".join(f"job {n} {'failed' if n == 3 else 'Failure of' if n == 9 else 'is'} done" for n in range(99))
    assert readings(text, "What failed?") == ['text has "failed": 2 lines']
