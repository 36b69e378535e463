"""References as arguments of other tools: what a result holds is passed on without the model writing it.

    write_file(path="report.html", content="$cold.414775181990#/page/body")

The tool is given the text, the state keeps the call as the model wrote it. It is a way out for data: only tools and
arguments that the user named, only texts that the agent may open anyway (`accp_core.references`), and each is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.fetching.answers import Sources, value_in
from accp_adapters.fetching.request import FetchRequest, refuse, too_much
from accp_core.documents.json_styles import write_styled_json
from accp_core.markers import printable
from accp_core.projection import Resolve
from accp_core.references import parse_reference, split_reference

__all__ = ["describe_passed", "passed_requests", "passed_text", "with_references"]

_HINT: Final = "Or $cold.… with #/a/0 or SELECT … behind it: its text."
"""What a model reads of such an argument."""
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
"""Where providers and MCP have the JSON Schema of a tool's arguments."""
_MAX_ROWS: Final = 10_000
"""Rows of a SELECT."""
_MAX_BEGINNING: Final = 500
_MAX_LINES: Final = 6
"""Characters and lines of a text that a person is shown."""


def passed_requests(arguments: object, resolved: Resolve | None) -> Iterator[tuple[str, FetchRequest]]:
    """Yield the name of each argument that is a reference and may be one, and what it asks for."""
    for name in resolved.arguments if resolved and isinstance(arguments, Mapping) else ():
        written = arguments.get(name) if isinstance(arguments, Mapping) else None
        if isinstance(written, str) and (found := split_reference(written)):
            query = found[1].strip().removeprefix(".")
            yield name, FetchRequest(ref=found[0], query="" if query == "#" else query)


def passed_text(request: FetchRequest, open_one: Callable[[str], str], *, max_chars: int) -> str:
    """Return the text that a tool is given in place of a reference: exactly what the tool returned, or a part of it.

    A text at a path stands as it is, the texts of one column of a SELECT one a line, any other value as compact JSON.

    Args:
        request: What is asked for; an empty query is the whole text.
        open_one: Checks the grant of one reference and returns its text.
        max_chars: Characters of the answer.

    Raises:
        ProtocolError: E1004, nothing is found (a pointer is told what it may lead to), the query is neither a path, a
            JSON Pointer (RFC 6901) nor a SELECT, or a tool cut its source off;
            E2003, the text is too long; the codes of `open_one`.
    """
    texts = {parse_reference(each): open_one(each) for each in request.references}
    text = _part(texts, request) if request.query else next(iter(texts.values()))
    if len(text) > max_chars:
        raise too_much(f"expected at most {max_chars:,} characters of {request.ref!r}, found {len(text):,}")
    return text


def _part(texts: Mapping[str, str], request: FetchRequest) -> str:
    sources = Sources(texts, request)
    if sources.is_cut:
        raise refuse(
            f"expected a whole source of {request.query[:100]!r}, found one that its tool cut off: pass it on whole"
        )
    value = value_in(sources, request, max_rows=_MAX_ROWS)
    is_select = re.match(r"(?i)\(*(select|with)\s", request.query) is not None
    if is_select and value in ([], None):
        raise refuse(f"expected a value to pass on, found none by {request.query[:100]!r}")
    if isinstance(value, list) and is_select:
        value = "\n".join(value) if all(isinstance(each, str) for each in value) else value
    return value if isinstance(value, str) else write_styled_json(value, "0u")


def describe_passed(name: str, request: FetchRequest, text: str) -> str:
    """Return what a person is shown of an argument before the tool is given its text: reference, size, first lines."""
    cited = f"{request.ref} {request.query}".replace(" #/", "#/", 1).strip()
    lines = text[:_MAX_BEGINNING].replace("\r\n", "\n").split("\n")[:_MAX_LINES]
    shown = "\n".join(f"  {line}" for line in lines)
    size = f"{len(text):,} characters, {text.count(chr(10)) + 1:,} lines"
    return printable(f"{name}: the text of {cited}, {size}, which begins:\n{shown}")


def with_references(tool: Mapping[str, Any], resolved: Resolve) -> Mapping[str, Any]:
    """Return the definition of a tool, in the layout of a provider or of MCP, whose arguments say so."""
    if isinstance(function := tool.get("function"), Mapping):
        return {**tool, "function": with_references(function, resolved)}
    name, schema = _schema_of(tool)
    known = schema.get("properties") or {}
    hinted = {
        each: {**known[each], "description": f"{known[each].get('description', '')} {_HINT}".strip()}
        for each in resolved.arguments
        if isinstance(known.get(each), Mapping)
    }
    return {**tool, name: {**schema, "properties": {**known, **hinted}}} if hinted else tool


def _schema_of(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the key and the schema of the arguments in a definition; ("", {}): it has none."""
    found = ((name, tool[name]) for name in _SCHEMAS if isinstance(tool.get(name), Mapping))
    return next(found, ("", {}))
