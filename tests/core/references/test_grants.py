"""Who may open a reference, and which text comes back."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from accp_core.errors import ProtocolError
from accp_core.references import check_grant, checked_text, key_of, open_reference, short_reference

TEXT = "the whole result"
KEY = key_of(TEXT)
SHORT = short_reference(KEY)
URI = KEY.replace("cold.", "accp://cold/")


def refusal_of(call: Any, *arguments: Any) -> tuple[str, str]:
    """Return the code and the reason of the refusal that a call must end with."""
    with pytest.raises(ProtocolError) as refusal:
        call(*arguments)
    return refusal.value.code, refusal.value.reason


@pytest.mark.parametrize("written", [KEY, f"${KEY}", URI, f"  ${KEY}\n", SHORT, SHORT[1:], URI[: -len(KEY) + 17]])
def test_a_granted_key_opens_however_it_is_written(written: str) -> None:
    assert check_grant(written, {KEY}) == KEY
    assert open_reference(written, {KEY: 1}, {KEY: TEXT}.get) == TEXT


@pytest.mark.parametrize("granted", [set(), {key_of("another")}, {f"${KEY}"}, {URI}])
def test_a_key_that_was_not_granted_is_refused(granted: set[str]) -> None:
    assert refusal_of(check_grant, f"${KEY}", granted) == (
        "E5002",
        f"expected a reference to a text that this conversation still has, found '${KEY}'",
    )


def test_a_short_reference_of_two_granted_texts_opens_neither_and_names_both() -> None:
    forged = f"{KEY[:17]}{'0' * 17}"
    assert check_grant(SHORT, {KEY, key_of("another")}) == KEY
    assert refusal_of(check_grant, SHORT, {KEY, forged}) == (
        "E5002",
        f"expected a reference that one text has, found '{SHORT}', which several have; whole: ${forged}, ${KEY}",
    )
    assert [check_grant(f"${each}", {KEY, forged}) for each in (KEY, forged)] == [KEY, forged]


@pytest.mark.parametrize("at", range(5, 17))
@pytest.mark.parametrize("change", ["other", "missing", "twice", "swapped"])
def test_a_mistyped_reference_is_answered_with_the_nearest_granted_one(at: int, change: str) -> None:
    short, digit, left = KEY[:17], KEY[at], min(at, 15)
    others = {key_of(str(number)) for number in range(50)}
    typed = {
        "other": f"{short[:at]}{(int(digit) + 5) % 10}{short[at + 1 :]}",
        "missing": short[:at] + short[at + 1 :],
        "twice": short[:at] + digit + short[at:],
        "swapped": short[:left] + short[left + 1] + short[left] + short[left + 2 :],
    }[change]
    for written in {f"${typed}", f"${typed}{KEY[17:]}"} - {SHORT, f"${KEY}"}:
        code, reason = refusal_of(check_grant, written, {KEY, *others})
        assert (code, reason.partition("; ")[2]) == ("E5002", f"nearest: {SHORT}")


def test_what_is_like_no_granted_reference_is_answered_with_none() -> None:
    for written in ("the second result", "$cold.000000000000", "$cold.12", "$warm.ckpt_1"):
        assert "nearest" not in refusal_of(check_grant, written, {KEY})[1]


@given(st.text(), st.sets(st.text(max_size=9)))
def test_no_words_open_anything(written: str, others: set[str]) -> None:
    granted = {KEY} | {f"cold.{other}" for other in others}
    assume(not written.strip().removeprefix("$").startswith(("cold.", "accp:")))
    assert refusal_of(check_grant, written, granted)[0] == "E5002"


def test_nothing_is_read_before_the_grant_is_checked() -> None:
    keys_read: list[str] = []

    def read(key: str) -> str | None:
        keys_read.append(key)
        return TEXT

    assert refusal_of(open_reference, f"${KEY}", (), read)[0] == "E5002"
    assert keys_read == []
    assert open_reference(f"${KEY}", (KEY,), read) == TEXT
    assert keys_read == [KEY]


def test_a_refusal_shows_no_more_than_a_hundred_characters() -> None:
    code, reason = refusal_of(check_grant, "$" + "x" * 1_000_000, {KEY})
    assert (code, reason) == (
        "E5002",
        f"expected a reference to a text that this conversation still has, found '${'x' * 99}'",
    )
    code, reason = refusal_of(checked_text, "x" * 1_000_000, None)
    assert code == "E2001"
    assert len(reason) < 250


def test_a_text_that_is_gone_is_refused() -> None:
    assert refusal_of(open_reference, KEY, {KEY}, {}.get) == (
        "E2001",
        f"expected the stored text of '{short_reference(KEY)}', found none: it was deleted or is in another store",
    )


@given(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=[])))
def test_a_text_comes_back_under_its_own_key_and_under_no_other(text: str, other: str) -> None:
    assert checked_text(key_of(text), text) == text
    if other != text:
        assert refusal_of(checked_text, key_of(text), other) == (
            "E2001",
            f"expected the stored text of '{short_reference(key_of(text))}', found another text",
        )


def test_a_key_of_another_form_says_nothing_about_its_text() -> None:
    assert open_reference("$cold.c95", {"cold.c95"}, {"cold.c95": TEXT}.get) == TEXT
    assert open_reference("accp://warm/ckpt_1", {"warm.ckpt_1"}, {"warm.ckpt_1": ""}.get) == ""
