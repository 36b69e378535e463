"""A tools/call result as texts for a model, and the plain result again.

Each text block is shown in the fewest tokens that lose nothing; a list that stands in one block for each item becomes
one table. A host that shows its model both `content` and `structuredContent` can have one of them: what the other
said is in it, or is put there. A note in `_meta` leads back to what the server sent, byte for byte.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from accp_adapters.mcp.copies import Block, Copy, find_copy, text_block
from accp_adapters.mcp.negotiation import Structured
from accp_adapters.mcp.protocol import EXTENSION, Json, same_result, without
from accp_core.ports import TokenCounter
from accp_core.view import View, read, render, render_text

__all__ = ["is_view", "restore_view", "write_view"]

_NOTE: Final = "view"
_STRUCTURED: Final = "structuredContent"


def write_view(result: Json, *, structured: Structured = "keep", counter: TokenCounter) -> Json | None:
    """Return `result` as a model is to read it; None where nothing in it can be said in fewer tokens.

    Raises: ValueError (EncodeError among them), RecursionError: something in it cannot be restored.
    """
    if EXTENSION in result.get("_meta", {}) or not isinstance(result.get("content"), list):
        return None
    found = find_copy(result)
    content, note = _one_form(result, found, structured, counter)
    dropped = structured == "drop" and _STRUCTURED in result
    if found is not None and found[0].each and "left" not in note:
        _merge(content, found[0], note, counter)
    _shorten(content, note, counter)
    if not note:
        return None
    meta = {**result.get("_meta", {}), EXTENSION: {_NOTE: note}}
    written = {**(without(result, _STRUCTURED) if dropped else result), "content": content, "_meta": meta}
    if not same_result(restore_view(written), result):
        raise ValueError("expected a result that its view gives back")
    return written


def restore_view(result: Json) -> Json:
    """Return the plain result that `write_view` was given.

    Raises: ValueError (DecodeError among them), TypeError, LookupError: the note does not fit the result.
    """
    note: Json = result["_meta"][EXTENSION][_NOTE]
    content, restored = list(result["content"]), dict(result)
    for index, layout in note.get("texts", {}).items():
        block = content[int(index)]
        view = View(text=block["text"], layout=layout, tokens_before=0, tokens_after=0)
        content[int(index)] = {**block, "text": view.restore()}
    if "merged" in note:
        copy = Copy.from_json(note["merged"])
        content[copy.at : copy.at + 1] = copy.write(read(content[copy.at]["text"]))
    if "added" in note:
        restored[_STRUCTURED] = read(content.pop()["text"])
    if "dropped" in note:
        restored[_STRUCTURED] = Copy.from_json(note["dropped"]).read(content)
    if "left" in note:
        copy = Copy.from_json(note["left"])
        content[copy.at : copy.at] = copy.write(restored[_STRUCTURED])
    meta = without(result["_meta"], EXTENSION)
    restored = {**without(restored, "_meta"), "content": content}
    return {**restored, "_meta": meta} if meta else restored


def is_view(result: object) -> bool:
    """Tell whether a result holds views of ours, by its note."""
    meta = result.get("_meta") if isinstance(result, dict) else None
    note = meta.get(EXTENSION) if isinstance(meta, dict) else None
    return isinstance(note, dict) and isinstance(note.get(_NOTE), dict)


def _one_form(
    result: Json, found: tuple[Copy, object] | None, structured: Structured, counter: TokenCounter
) -> tuple[list[Block], Json]:
    """Return the content when one form of the result is enough, and the note that leads to the other."""
    content = list(result["content"])
    if structured == "keep" or _STRUCTURED not in result:
        return content, {}
    copy = found[0] if found else None
    if structured == "only":
        if copy is None:
            return content, {}
        del content[copy.at : copy.at + copy.count]
        return content, {"left": copy.to_json()}
    if copy is None:
        return [*content, text_block(render(result[_STRUCTURED], counter=counter))], {"added": True}
    return content, {"dropped": copy.to_json()}


def _merge(content: list[Block], copy: Copy, note: Json, counter: TokenCounter) -> None:
    """Put one block in the place of those that each hold an item of a list, where that is shorter."""
    items = replace(copy, key=None).read(content)
    view = render(items, counter=counter)
    blocks = content[copy.at : copy.at + copy.count]
    if counter(view) < sum(counter(block["text"]) for block in blocks):
        content[copy.at : copy.at + copy.count] = [text_block(view)]
        note["merged"] = replace(copy, key=None).to_json()


def _shorten(content: list[Block], note: Json, counter: TokenCounter) -> None:
    """Put views in the place of texts, less those that are views already and those that only a person is shown."""
    done = {note["merged"]["at"]} if "merged" in note else set()
    done |= {len(content) - 1} if "added" in note else set()
    layouts = {}
    for index, block in enumerate(content):
        if index in done or not _is_shown(block):
            continue
        view = render_text(block["text"], counter=counter)
        if view.tokens_after < view.tokens_before:
            content[index] = {**block, "text": view.text}
            layouts[str(index)] = view.layout
    if layouts:
        note["texts"] = layouts


def _is_shown(block: Any) -> bool:
    """Tell whether a block is text that a model is shown."""
    if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
        return False
    annotations = block.get("annotations")
    return not isinstance(annotations, dict) or annotations.get("audience") != ["user"]
