import json
from typing import Any

import pytest

from accp_adapters.replay.formats.trajectories import write_value
from accp_core.strict_json import compact_json

VALUE = {"name": "Zoë", "list": [1, 2.0]}


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("py", json.dumps(VALUE)),
        ("native", json.dumps(VALUE)),
        ("py-u", json.dumps(VALUE, ensure_ascii=False)),
        ("compact", json.dumps(VALUE, separators=(",", ":"))),
        ("compact-u", compact_json(VALUE)),
        ("indent1", json.dumps(VALUE, indent=1)),
        ("indent2-u", json.dumps(VALUE, indent=2, ensure_ascii=False)),
        ("indent4", json.dumps(VALUE, indent=4)),
    ],
)
def test_a_value_is_written_as_it_was_recorded(layout: str, text: str) -> None:
    assert write_value(VALUE, layout) == text


def test_an_mcp_result_is_written_as_the_repr_of_the_sdk() -> None:
    value = {"content": [{"type": "text", "text": "it's\n1"}], "isError": False}
    text = """meta=None content=[TextContent(type='text', text="it's\\n1", annotations=None)] isError=False"""
    assert write_value(value, "mcp-repr") == text


@pytest.mark.parametrize(
    ("value", "layout", "reason"),
    [
        (VALUE, "yaml", "found 'yaml'"),
        (VALUE, "mcp-repr", "CallToolResult"),
        ({"content": [{"type": "image"}], "isError": False}, "mcp-repr", "text block"),
    ],
)
def test_an_unknown_layout_is_refused(value: Any, layout: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        write_value(value, layout)
