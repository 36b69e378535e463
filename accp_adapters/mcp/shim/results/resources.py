"""A resources/read result with texts for a model, and the plain result again.

    {"contents": [{"uri": …, "mimeType": "text/plain", "text": VIEW}],
     "_meta": {EXTENSION: {"contents": {"0": [layout, "application/json"]}}}}

A view is no JSON document, so the media type says text; the metadata has the one that the server sent. What a host
renders itself, HTML and the pages of MCP Apps, is no text for a model. A resource is never previewed: somebody chose
to attach it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from accp_adapters.mcp.shim.meta import add_metadata, has_room_for_metadata, read_metadata, remove_metadata
from accp_adapters.mcp.shim.protocol import FRAME_MEDIA_TYPE, JsonObject, without
from accp_core import view as views
from accp_core.markers import unescape_markers
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["restore_contents", "write_contents"]

_CONTENTS: Final = "contents"
_TEXT: Final = "text/plain"
_RENDERED: Final = frozenset({"text/html", "text/css", "text/javascript", "image/svg+xml", FRAME_MEDIA_TYPE})


def write_contents(result: JsonObject, counter: TokenCounter, min_gain: int) -> JsonObject | None:
    """Return a result of resources/read with views in place of texts; None where that saves nothing.

    Raises:
        ValueError: A text cannot be restored.
        RecursionError: A text nests too deep.
    """
    contents = result.get(_CONTENTS)
    if not isinstance(contents, list) or not has_room_for_metadata(result):
        return None
    shown = [_view_of(each, counter, min_gain) if _is_for_model(each) else None for each in contents]
    if not any(shown):
        return None
    pairs = list(zip(contents, shown, strict=True))
    layouts = {str(index): [view.layout, each.get("mimeType")] for index, (each, view) in enumerate(pairs) if view}
    texts = [each if view is None else {**each, "mimeType": _TEXT, "text": view.text} for each, view in pairs]
    written = add_metadata({**result, _CONTENTS: texts}, {_CONTENTS: layouts})
    if compact_json(restore_contents(written), sort_keys=True) != compact_json(result, sort_keys=True):
        raise ValueError("expected to restore the same contents from their views, found others")
    return written


def restore_contents(result: JsonObject) -> JsonObject:
    """Return the plain result that `write_contents` was given.

    Raises:
        ValueError, TypeError, LookupError: The metadata does not fit the result.
    """
    contents, restored = list(result[_CONTENTS]), remove_metadata(result)
    for index, (layout, media_type) in read_metadata(result)[_CONTENTS].items():
        content = contents[int(index)]
        view = views.View(text=unescape_markers(content["text"]), layout=layout, tokens_before=0, tokens_after=0)
        plain = {**content, "mimeType": media_type, "text": view.restore()}
        contents[int(index)] = without(plain, "mimeType") if media_type is None else plain
    return {**restored, _CONTENTS: contents}


def _is_for_model(content: Any) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        return False
    media_type = str(content.get("mimeType") or _TEXT).partition(";")[0].strip().lower()
    return media_type not in _RENDERED and not str(content.get("uri")).startswith("ui://")


def _view_of(content: JsonObject, counter: TokenCounter, min_gain: int) -> views.View | None:
    view = views.render_text(content["text"], counter=counter)
    text = views.escape_view(view.text, view.layout)
    if text == view.text and view.tokens_before - view.tokens_after < max(min_gain, 1):
        return None
    return replace(view, text=text)
