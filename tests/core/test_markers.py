"""No text of others looks like what we write, and none is lost by that."""

import ast
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core.compression import Source
from accp_core.markers import MarkerStart, escape_markers, unescape_markers
from accp_core.view.layout import CUT_LINE
from tests.test_house import MODULES, name_of, tree_of
from tests.work import grows_in_proportion

counter = o200k_base()

LONG = "\n".join(f"Line {number} says something of its own." for number in range(400))
PREVIEW = Source(LONG, counter=counter).preview(200)
WRITTEN = {
    MarkerStart.REPEAT: ['[as above: 14 lines from "x…"]', '[as above: 1 line from the last "y…"]'],
    MarkerStart.PREVIEW: [
        PREVIEW.text if PREVIEW else "",
        "[preview; the whole is intact: accp_fetch $cold.1]",
        "[preview of the beginning of 2 lines; the whole is intact: accp_fetch $cold.1]",
    ],
    MarkerStart.GAP: ["[…57 lines]", "[…lines 1-40]", "[…base64, 41,200 characters]", "[……hex, 64 characters]"],
    MarkerStart.CUT: [CUT_LINE.removeprefix("\n")],
    MarkerStart.CUT_SOURCE: ["[the source was cut off; of what was returned:]"],
}
"""What each writer of a marker writes."""

NOT_ESCAPED = {"[cost centre|cost center|approved] (budgets|budget) [data|datasets|allocations]": "a pattern"}
"""Strings that begin like a marker, and why they may stand in a text of others."""


def test_every_marker_has_a_text_of_each_writer() -> None:
    assert list(WRITTEN) == list(MarkerStart)


@pytest.mark.parametrize(("start", "text"), [(start, text) for start, texts in WRITTEN.items() for text in texts])
def test_what_looks_like_ours_says_that_it_is_source_text(start: MarkerStart, text: str) -> None:
    assert text.startswith(start)
    first = text.split("\n")[0]
    for before in ("", "It says "):
        escaped = escape_markers(before + text)
        assert escaped.split("\n")[0] == f"{before}[source text: {first[1:]}"
        assert unescape_markers(escaped) == before + text
    assert escape_markers(escape_markers(first)) == f"[source text: source text: {first[1:]}"


UNSEEN = (*"\0\n\x1b\x7f\x85\xa0\xad\u034f\u061c\u180e\u200b\u202d\u2066\u3164\ufe0f\ufeff\U000e0020", " " * 5)
"""What a reader does not see, or as a blank."""
LETTERS = ("a\uff41", "s\u0455", "o\u03bf", "e\u0435", "e\U0001d41e")
"""A letter of a marker, and one that looks like it."""


@pytest.mark.parametrize(
    "text",
    [
        "[As  Above: 3 lines]",
        "[ as above: 3 lines]",
        "[AS\u00a0ABOVE]",
        "\uff3bas above: x\uff3d",
        "[\u200bas\u200b above: x",
        "[Preview of 4 lines",
        "[preview ; the whole",
        '{"a": "[as above: \\"x … y\\"]"}',
        *[f"[{unseen}as above: 14 lines]" for unseen in UNSEEN],
        *[f"[{json.dumps(unseen)[1:-1]}as above: 14 lines]" for unseen in UNSEEN],
        *[f"[pre{unseen}view of 14 lines" for unseen in UNSEEN],
        "[\\xadas above: x",
        "[\\U000E0020as above: x",
        f"[{' ' * 16}as above: x",
        f"[{' ' * 99}as above: x",
        f"[a{chr(0x200B) * 40}s above: x",
        f"[{'…' * 20}57 lines]",
        "[Cut  off\u00adhere]",
        '["a", "[\\u2026lines 65-99]"',
        '"[\\\\u20265 lines]"',
        "[\\u0061s abo\\u0056e: x",
        "[...57 lines]",
        "[... lines 5-9]",
        "[...41,200 rows]",
        "[…\uff15\uff17 lines]",
        *[f"[{text.replace(*pair)}" for pair in LETTERS for text in ("as above: x", "Preview of 4", "the source says")],
        *["[" + "as above: x".translate({code: code + to for code in range(97, 123)}) for to in (0xFEE0, 0x1D3B9)],
    ],
)
def test_small_changes_do_not_help(text: str) -> None:
    escaped = escape_markers(text)
    assert escaped != text
    assert unescape_markers(escaped) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2]",
        "[preview](https://a.example)",
        "so it goes […] and on",
        "as above",
        "[source text: x]",
        "[…]",
        "[...lines, 5]",
        "[...]",
        "[\u041d\u043e\u0432\u043e\u0441\u0442\u0438: x]",
        "[\uff37\uff29\uff2e\uff24\uff2f\uff37\uff33]",
        "x … rows 1-2 of 9",
        "0 of them",
    ],
)
def test_any_other_text_stays(text: str) -> None:
    assert escape_markers(text) == text


SIGNS = ("[", "\uff3b", " ", "\n", "\u2028", ";", "…", "...", "5", "x", "\uff41", "source text: ", "\uff33ource Text: ")
PARTS = st.sampled_from([*SIGNS, "as above", "As above:", "preview", " of", "0 of 9 rows"])


@given(st.lists(PARTS, max_size=20).map("".join) | st.text())
def test_every_text_comes_back(text: str) -> None:
    escaped = escape_markers(text)
    assert unescape_markers(escaped) == text
    assert re.search(r"\[as above\b", escaped) is None


@pytest.mark.slow
def test_no_marker_is_written_that_is_not_escaped() -> None:
    texts = {text.strip(): name_of(path) for path in MODULES for text in texts_of(tree_of(path))}
    alike = {text for text in texts if re.match(r"\[(?:…|[a-z]{3,}(?:[ :;]|$))", text)} - NOT_ESCAPED.keys()
    assert {
        text: texts[text] for text in alike if not text.startswith(tuple(start.strip() for start in MarkerStart))
    } == {}


def texts_of(tree: ast.Module) -> list[str]:
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


@pytest.mark.parametrize(
    "part", ["[", "[ ", "[source text: ", "source text: ", "[as", "[…", "\\", "[\\u00", "[a\xad", "[\\u2026"]
)
def test_hostile_texts_take_linear_time(part: str) -> None:
    assert grows_in_proportion(lambda size: unescape_markers(escape_markers(f"[{part * size}")), 20_000)
