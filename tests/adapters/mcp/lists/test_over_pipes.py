"""A list of calls over standard streams, in front of a real server process."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from accp_adapters.mcp.proxy.pipes import LinePipe
from tests.adapters.mcp.transcripts import ACCP, SERVER, converse, modern

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")

CALLS = [
    {"call": "orders", "show": "SELECT count(*) AS n FROM orders"},
    {"call": "test_simple_text", "show": ""},
]
LINES = [
    modern("tools/list", 1),
    modern("tools/call", 2, name="accp_tools", arguments={"calls": CALLS}),
    modern("tools/call", 3, name="accp_tools", arguments={"call": "test_simple_text"}),
]


def results(*options: str) -> list[Any]:
    said = converse([*ACCP, *options, "--", *SERVER], LINES)
    return [message["result"] for line in said[:-1] if "result" in (message := json.loads(line))]


def test_a_list_of_calls_is_one_result() -> None:
    tools, shown, alone = results("--tools", "names", "--allow", "orders", "--allow", "test_*")
    assert [tool["name"] for tool in tools["tools"]] == ["accp_tools"]
    first, second = (block["text"] for block in shown["content"])
    assert first.startswith("1 orders: ")
    assert second == "2 test_simple_text: This is a simple text response for testing."
    assert alone["content"][0]["text"] == "This is a simple text response for testing."


def test_a_pipe_that_is_closed_takes_nothing_even_where_its_number_is_used_again() -> None:
    reader, writer = os.pipe()
    pipe = LinePipe(writer)
    pipe.close()
    again, _ = os.pipe(), os.close(reader)
    with pytest.raises(BrokenPipeError):
        pipe.write(b"lost\n")
    for descriptor in again:
        os.close(descriptor)
