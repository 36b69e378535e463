"""No value of a view reads as a row, a cell or a heading that the source does not have."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from accp_core import read, render
from accp_core.previews import preview
from accp_core.strict_json import compact_json

BLANKS = "\u00a0\u1680\u2000\u2003\u200a\u202f\u205f\u3000"
HIDDEN = (
    "\x00\x1b\r\x7f\x85\x9b\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202e"
    "\u2066\ufeff\U000e0041\u034f\u2800\u3164\U000e0101"
)
TO_BLANK = dict.fromkeys(map(ord, BLANKS), " ")
PIECES = ["eve", "admin", "9", "-", ",", ";", ":", '"', "[1]", "{", "id user", "true", "10 root", "🦊", "زبان"]
words = st.lists(st.sampled_from([*PIECES, *BLANKS, *HIDDEN, " ", "\n"]), max_size=6).map("".join)
keys = st.sampled_from(["id", "user", "note"]) | words.filter(bool)
rows = st.lists(st.fixed_dictionaries({"id": st.integers(1, 99), "user": words, "note": words}), min_size=2, max_size=6)
values = rows | st.dictionaries(keys, words | st.lists(words, max_size=3), max_size=5)


def blanked(value: object) -> object:
    """Return `value` with a common blank in place of each other one."""
    match value:
        case str():
            return value.translate(TO_BLANK)
        case list():
            return [blanked(each) for each in value]
        case dict():
            return {blanked(key): blanked(each) for key, each in value.items()}
    return value


@given(values)
def test_a_view_hides_nothing_and_blanks_are_one(value: object) -> None:
    text = render(value, counter=len)
    assert read(text) == value
    if text == compact_json(value):
        return  # its quotes say where each value ends
    assert not re.search(f"[{HIDDEN}]", text)
    assert len(text.splitlines()) <= text.count("\n") + 1
    assert not [each for each in text if unicodedata.category(each) in ("Zl", "Zp", "Cc") and each not in "\n\t"]
    if len(str(blanked(value))) == len(str(value)):
        assert read(text.translate(TO_BLANK)) == blanked(value)


@given(st.lists(words, min_size=40, max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_a_preview_of_a_text_hides_nothing_and_keeps_the_ends_of_lines(lines: list[str], end: str) -> None:
    text = "".join(f"{line} and so on{end}" for line in lines)
    shown = preview(text, limit=100, opening="$cold.1", counter=lambda text: len(text) // 4)
    assert not re.search(f"[{HIDDEN}]", re.sub(r"\r(\n|\Z)", r"\1", shown))
    assert "so on\\r" not in shown
