"""A preview of a text says how many lines have the words of the request, and shows those that have most of them."""

from __future__ import annotations

from accp_core.previews import preview
from accp_core.previews.named_lines import find_named_lines
from accp_core.previews.request import Request

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
    assert (
        '\n"checkout" and "error": 10 lines, all shown; "error": 10 lines, all shown; "checkout": 200 lines\n' in text
    )
    assert [line for line in LOG.split("\n") if "ERROR" in line and line not in text] == []


def test_lines_that_do_not_fit_are_counted_only() -> None:
    assert '\n"checkout": 200 lines\n' in shown("checkout handled", 120)


def test_what_leaves_no_room_is_left_out() -> None:
    assert '"' not in shown("errors of the checkout that were refused by payment", 60).partition("\n")[2]


def test_equal_lines_are_shown_as_often_as_they_are_counted() -> None:
    text = "\n".join("job failed" if n in (3, 300) else f"step {n} of the job is done" for n in range(400))
    assert '"failed": 2 lines, all shown\n' in shown("what failed", 300, text)
    (found,) = find_named_lines(text, Request("what failed"))
    assert found.describe("job failed\nelse") == '"failed": 2 lines'


def test_a_short_text_and_a_request_without_words_name_no_line() -> None:
    assert find_named_lines("error\n" * 10, Request("error")) == ()
    assert find_named_lines(LOG, Request("")) == ()
    assert find_named_lines(LOG, Request("Which of these has what?")) == ()
    assert find_named_lines("error\n" * 200_000, Request("error")) == ()


def test_each_form_of_a_word_is_said() -> None:
    text = "\n".join(f"job {n} {'failed' if n == 3 else 'Failure of' if n == 9 else 'is'} done" for n in range(99))
    (found,) = find_named_lines(text, Request("What failed?"))
    assert found.describe(text) == '"failed|failure": 2 lines, all shown'
