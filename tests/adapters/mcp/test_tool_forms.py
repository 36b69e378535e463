"""What is special to the results of some tools of a server: `tools`, and the usual tools that read files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_core.compression import ResultLimits
from tests.adapters.mcp.messages import Wire, rows, served

ROWS = json.dumps(rows(60), indent=2)
FILE = {"content": [{"type": "text", "text": ROWS}]}


def read(tool: str, result: Any, forms: Any, **settings: Any) -> Any:
    """Return the result of `tool` as a client that knows nothing of us gets it."""
    wire = Wire(encoder=Encoder(policy="always", tools=forms, **settings), decoder=None)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}
    return wire.ask(asked, result)["result"]


def test_a_file_is_shown_as_it_is_and_other_results_are_views() -> None:
    assert read("read_file", FILE, {}) == FILE
    assert read("list_rows", FILE, {}) != FILE
    assert read("read_file", FILE, {"read_*": "lossless"}) == read("list_rows", FILE, {})


def test_what_stays_as_it_is_loses_no_structured_content() -> None:
    plain = served(rows(20))
    assert read("list_rows", plain, {"list_*": "as_is"}, host="structured") == plain
    assert read("list_rows", plain, {}, host="structured") != plain


@pytest.mark.parametrize(("form", "is_preview"), [("lossless", False), (ResultLimits(inline=50, preview=60), True)])
def test_lossless_hides_nothing_and_limits_are_those_of_the_tool(form: Any, is_preview: bool) -> None:
    text = read("list_rows", FILE, {"list_rows": form}, fetch=True, inline_limit=100)["content"][0]["text"]
    assert text.startswith("[preview") == is_preview


def test_an_excerpt_of_a_file_has_whole_lines_of_it() -> None:
    text = read("read_text_file", FILE, {}, fetch=True, inline_limit=300, preview_limit=150)["content"][0]["text"]
    first, *lines = text.split("\n")
    assert first.startswith("[preview of ")
    assert {line for line in lines if not line.startswith("[…")} <= set(ROWS.split("\n"))


def test_a_form_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected tools\['read'\] to be one of .* found 'exact'"):
        Encoder(tools={"read": "exact"})
