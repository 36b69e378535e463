"""The text of a recorded value, rebuilt in the layout that the trajectory format names in `fmt`."""

from __future__ import annotations

import json
from collections.abc import Mapping

__all__ = ["write_value"]


def write_value(value: object, layout: str) -> str:
    """Return `value` in `layout`, byte for byte as it was recorded.

    Args:
        value: A JSON value.
        layout: `py` (the defaults of json.dumps, also called `native`), `compact`, `indent1`, `indent2` or `indent4`,
            each also with `-u` (no escapes for letters outside ASCII); or `mcp-repr` (see `_call_tool_result`).

    Raises:
        ValueError: there is no such layout.
    """
    if layout == "mcp-repr":
        return _call_tool_result(value)
    name, ascii_only = layout.removesuffix("-u"), not layout.endswith("-u")
    if name in ("py", "native"):
        return json.dumps(value, ensure_ascii=ascii_only)
    if name == "compact":
        return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    if name in ("indent1", "indent2", "indent4"):
        return json.dumps(value, ensure_ascii=ascii_only, indent=int(name.removeprefix("indent")))
    raise ValueError(f"expected a layout such as 'py', 'compact' or 'indent2-u', found {layout!r}")


def _call_tool_result(value: object) -> str:
    """Return the Python repr of an MCP CallToolResult, which LiveMCPBench put into its tool messages.

    The recorded value holds the fields `content` (text blocks) and `isError` only. We take it for the repr of the SDK
    of that time: `meta=None content=[TextContent(type='text', text='…', annotations=None)] isError=False`. Results
    that the recording cut off, and so kept as text, begin like this, and with it the file has exactly the number of
    tokens that its publisher counted (246,901). Every strategy is given this text, escapes included, so that none
    gains by the text block that another client would have sent.

    Raises:
        ValueError: `value` is not such a result.
    """
    match value:
        case {"content": [*blocks], "isError": bool(is_error)}:
            return f"meta=None content=[{', '.join(map(_text_content, blocks))}] isError={is_error}"
    raise ValueError("expected a CallToolResult with 'content' and 'isError'")


def _text_content(block: object) -> str:
    if not (isinstance(block, Mapping) and block.get("type") == "text"):
        raise ValueError(f"expected a text block, found {block!r}")
    return f"TextContent(type='text', text={block['text']!r}, annotations=None)"
