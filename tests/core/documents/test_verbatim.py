"""Texts that are read for their characters: which JSON objects wrap one, and nothing else."""

import json
from typing import Any

import pytest

from accp_core.compression import ResultLimits, compress
from accp_core.documents import read_verbatim
from tests.core.test_compression import counter

LINES = "first line\n" * 20
BLOB = "QUJD" * 40


@pytest.mark.parametrize(
    "value",
    [
        {"content": LINES},
        {"path": "a.txt", "content": LINES, "size": 220, "is_binary": False, "encoding": None},
        {"type": "text", "text": LINES},
    ],
)
def test_an_object_that_wraps_a_text_is_a_value(value: Any) -> None:
    document = read_verbatim(f" {json.dumps(value)}\n")
    assert document.whole is not None
    assert document.whole.value == value


@pytest.mark.parametrize(
    "source",
    [
        LINES,
        "",
        "{ not json }",
        '{"a": 1, "b": [1, 2]}',
        json.dumps([LINES]),
        json.dumps({"content": "one line"}),
        json.dumps({"content": LINES, "text": LINES}),
        json.dumps({"content": LINES, "tags": ["a"]}),
        json.dumps({"script": LINES}),
        json.dumps({"content": "a\nb", "description": "x" * 100}),
        json.dumps({"content": LINES} | {f"key{n}": n for n in range(12)}),
    ],
)
def test_anything_else_is_prose(source: str) -> None:
    assert list(read_verbatim(source).values()) == []


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_long_line_is_cut_with_a_mark_and_no_blob_is_sized(wrapped: bool) -> None:
    text = f"key = '{BLOB}'\n" * 3 + "word " * 2_000 + "\nlast line\n"
    source = json.dumps({"path": "a.txt", "content": text}) if wrapped else text
    shown = compress(
        source, limits=ResultLimits(inline=800, preview=400, verbatim=True), counter=counter, open_with="accp_fetch"
    )
    assert shown.text.startswith("[preview of 5 lines; the whole is intact: accp_fetch $cold.")
    assert f"key = '{BLOB}'" in shown.text
    assert shown.restore() == source


def test_a_blob_in_a_file_that_fits_stays() -> None:
    source = json.dumps({"key": BLOB * 4, "rows": [{"id": n, "name": "a"} for n in range(9)]}, indent=2)
    shown = compress(source, limits=ResultLimits(verbatim=True), counter=counter, open_with="accp_fetch")
    assert shown.text == source
