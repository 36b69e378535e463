"""Documents inside strings, replaced by their values where the same bytes can be written again.

Tool results hold JSON in JSON strings (an MCP text block, a LangChain message), and the escapes alone cost 12 to 15 %
of their tokens. `pack_embedded_json` and `unpack_embedded_json` are inverse.

A view shows the code of a style of JSON. The view of a text opens documents of any layout, and other texts: it has
their layouts beside it, and only with them is it read. The view of a value stands alone: it opens what a code tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from accp_core.documents.json_forms import describe_json, read_json_text
from accp_core.documents.json_styles import STYLES, read_styled_json, write_styled_json
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion
from accp_core.packing.tree import BESIDE, IS_VIEW, EmbeddedJson, is_deeper, map_members

__all__ = ["ShowString", "WriteString", "pack_embedded_json", "unpack_embedded_json"]

ShowString: TypeAlias = Callable[[str], tuple[str, str] | None]
"""Returns the view of a text and its layout; None: it stays as it is."""
WriteString: TypeAlias = Callable[[object, Expansion], str]
"""Writes the string that holds a value, and counts its characters; ValueError: the value does not fit."""

_MAX_LEVELS: Final = 60
"""Levels of a document in a string that is opened; each takes calls of ours."""
_PACKED: Final = frozenset((str, dict, list))
_UNPACKED: Final = frozenset((EmbeddedJson, dict, list))


def pack_embedded_json(value: object, layouts: list[str] | None = None, show: ShowString = lambda _: None) -> object:
    """Return `value` with EmbeddedJson for each string that is a JSON array or object with members, or has a view.

    Args:
        value: A JSON value.
        layouts: The list to which the layouts are added, in the order of the value, each outer document before those in
            it; None: JSON documents are opened whose style has a code.
        show: The views of other strings, where there are layouts.
    """

    def pack(node: object) -> object:
        if type(node) is str:
            return pack_string(node)
        return map_members(node, pack, _PACKED) if type(node) is dict or type(node) is list else node

    def pack_string(text: str) -> object:
        may_be_json = len(text) > 2 and text[0] in "[{"
        if layouts is None:
            styled = read_styled_json(text) if may_be_json and text[-1] in "]}" else None
            is_opened = styled is not None and styled[0] and not is_deeper(styled[0], _MAX_LEVELS)
            return EmbeddedJson(pack(styled[0]), styled[1]) if styled is not None and is_opened else text
        if may_be_json and (found := _read_laid_out(text)) is not None:
            layouts.append(found[1])
            return EmbeddedJson(pack(found[0]), _style_of(found[1]))
        if ("\n" in text or text[:1] == '"') and (shown := show(text)) is not None:
            layouts.append(shown[1])
            return EmbeddedJson(shown[0], IS_VIEW)
        return text

    return pack(value)


def _read_laid_out(text: str) -> tuple[object, str] | None:
    """Return the value of a document and its layout."""
    try:
        value = read_json_text(text)
    except ValueError:
        return None
    layout = describe_json(text, [value]) if value and not is_deeper(value, _MAX_LEVELS) else None
    return None if layout is None else (value, layout)


def _style_of(layout: str) -> str:
    """Return the code of the style that a layout of `describe_json` says."""
    style = "0u" if layout == "" else layout.removeprefix("@")
    return style if style in STYLES and layout[:1] in ("", "@") else BESIDE


def unpack_embedded_json(
    value: object, expansion: Expansion | None = None, writers: Iterator[WriteString] | None = None
) -> object:
    """Return `value` with each EmbeddedJson written back as a string.

    Args:
        value: A tree that `pack_embedded_json` returned.
        expansion: What the strings may add; None: the default size. Each document within a document doubles the escapes
            of the inner one, so a short text could ask for more memory than there is.
        writers: What writes each string, in the order of `pack_embedded_json`; None: each document names its style.

    Raises:
        ExpansionError: the strings would have more characters than `expansion` has left.
        ValueError: the writers do not fit the value.
    """
    left = expansion or Expansion(DEFAULT_EXPANSION.size)

    def unpack(node: object) -> object:
        if type(node) is not EmbeddedJson:
            return map_members(node, unpack, _UNPACKED) if type(node) is dict or type(node) is list else node
        write = None if writers is None else next(writers, None)
        before = left.left
        inner = unpack(node.value)
        # The characters of the inner strings are part of this one.
        left.left = before
        if write is not None:
            return write(inner, left)
        if writers is not None:
            raise ValueError("expected a layout for each document in a string, found fewer")
        if node.style not in STYLES:
            raise ValueError(f"expected the layout beside this view for {node.mark!r}: View.restore() has it")
        return write_styled_json(inner, node.style, left)

    return unpack(value)
