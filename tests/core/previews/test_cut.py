"""What is said of a source that was cut off before it came here says so."""

import base64
import hashlib
import json

import pytest

from accp_core.compression import ResultLimits, compress
from accp_core.documents import looks_cut
from accp_core.documents.omissions import tell_cut
from accp_core.previews import preview
from accp_core.tables import open_text
from tests.core.previews.test_composition import OPENING, counter, log
from tests.core.view.payloads import logs

STATE = "; the source was cut off, all that it returned: "
WHOLE = json.dumps(logs(400))
INDENTED = json.dumps(logs(400), indent=2)


def first_line(source: str, **options: bool) -> str:
    return preview(source, limit=150, opening=OPENING, counter=counter, **options).split("\n")[0]


@pytest.mark.parametrize(
    "source",
    [
        WHOLE[:-900],
        INDENTED[:-900],
        f"The log:\n{WHOLE[:-900]}\n",
        f"content=[TextContent(type='text', text='{WHOLE[:-900]}\\n')]",
        f"{WHOLE[:9_000]}\n... [12,345 characters omitted] ...\n{WHOLE[-9_000:]}",
        f"{log(300)}\n[… 120 more lines truncated]\n",
        f"[… 120 more lines truncated]\n{log(300)}",
    ],
)
def test_the_first_line_says_that_the_source_was_cut_off(source: str) -> None:
    assert STATE in first_line(source)
    assert open_text(source).cut


@pytest.mark.parametrize(
    "mark", ["[… 120 more lines truncated]", "[truncated]", f"[the \u202e\x1b file was truncated {'as ' * 9}]"]
)
def test_of_a_mark_between_lines_what_it_says_is_told(mark: str) -> None:
    """A tool wrote it, or it is a line of the log, or a document quotes it."""
    source = f"{log(300)}\n{mark}\n{log(300)}"
    told = json.dumps(mark.strip("[]… "))[:40]
    assert f"; the source says {told}" in first_line(source)
    assert f"[preview: source says {told}" in first_line(source, is_brief=True)
    assert f"; the source says {told}" in first_line(json.dumps({"id": 1, "body": source}))
    assert STATE in first_line(json.dumps({"id": 1, "body": source})[:-9])


@pytest.mark.parametrize("source", [WHOLE, INDENTED, log(300), f"The log:\n{WHOLE}\nThat is all."])
def test_a_whole_source_is_said_to_be_whole(source: str) -> None:
    assert "; the whole is intact: " in first_line(source)
    assert not open_text(source).cut


def test_a_part_that_is_looked_at_is_no_cut_of_the_source() -> None:
    limits = ResultLimits(inline=100, preview=100, previewed_chars=9_000)
    for source, is_cut in ((WHOLE, False), (WHOLE[:-900], True)):
        shown = compress(source, limits=limits, counter=counter).text
        assert (STATE in shown.split("\n")[0]) == is_cut
        assert "of the first " in shown


def test_a_source_that_is_too_long_to_be_read_whole_says_it_too() -> None:
    source = json.dumps([{"id": number, "text": f"a text {number * 7919}"} for number in range(50_000)])
    assert "; the whole is intact: " in first_line(source)
    assert STATE in first_line(source[:-9])


def test_a_view_with_the_size_of_a_blob_says_it() -> None:
    blob = base64.b64encode(hashlib.sha512(b"x").digest() * 9).decode()
    source = json.dumps([{"id": number, "name": f"name {number}"} for number in range(20)] + [{"blob": blob}, {"a": 1}])
    for text, is_cut in ((source, False), (source[:-5], True)):
        shown = compress(text, limits=ResultLimits(), counter=counter).text
        assert "[…base64, 7" in shown
        assert (STATE in shown.split("\n")[0]) == is_cut


@pytest.mark.parametrize(
    "text",
    [
        "... 12 lines omitted ...",
        "a\n[90,000 characters were truncated]\nb",
        "<3k tokens clipped>",
        "a\n<omitted 12 lines>\nb",
        "a…(truncated)…b",
        "a ... [truncated]",
        "a...[TRUNCATED 3,000 chars]...b",
        "<response clipped>",
        "a\n[... Observation truncated due to length ...]\nb",
        "--- 12 Rows Skipped ---",
    ],
)
def test_the_marks_of_tools_are_found(text: str) -> None:
    assert tell_cut(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We omitted 12 lines.",
        "12 lines omitted, as before",
        "a 12 lines omitted",
        "1 item skipped",
        "(omitted for brevity)",
    ],
)
def test_words_about_an_omission_are_none(text: str) -> None:
    assert not tell_cut(text)


def test_only_what_begins_like_records_ends_within_them() -> None:
    assert looks_cut('[{"a": 1}, {"a"')
    assert not looks_cut('[{"a": 1}]\n')
    assert not looks_cut("[INFO] started")


def test_a_cursor_is_shown_whatever_it_looks_like() -> None:
    cursor = base64.b64encode(hashlib.sha512(b"x").digest()).decode()
    page = {"hasNextPage": True, "endCursor": cursor}
    assert cursor in preview(json.dumps({"rows": logs(400), "page": page}), limit=400, opening=OPENING, counter=counter)
