"""The argument `accp_query` of other tools: a query of a result in the call itself, answered before it is shown.

The tool is never given it. The state, or the store, has the whole result; who reads it is sent

    [accp_query over 1,130 lines; the whole: accp_fetch $cold.414775181990]

and the answer, or why the query was refused and the result as it is shown without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from accp_adapters.fetching.answers import answer, describe
from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.tool import FETCH_NAME
from accp_core import view as views
from accp_core.compression import Compressed, ResultLimits, Source
from accp_core.errors import ProtocolError
from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import TokenCounter
from accp_core.references import StoredText, short_reference

__all__ = ["ASK_NAME", "Asker", "has_query", "schema_of", "tables_in", "with_query", "without_query"]

ASK_NAME: Final = "accp_query"
"""The name of the argument."""
_PROPERTY: Final = {"type": "string", "description": "query the result"}
"""Its definition, of 15 tokens with the name."""
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
"""Where providers and MCP have the JSON Schema of a tool's arguments."""
_SHOWN_WHOLE: Final = 400
"""Tokens; a result whose view takes fewer is shown whole."""
_MAX_SAID: Final = 40
"""Tokens of the tables that a definition names."""
_MAX_NAMES: Final = 20
_MAX_TABLES: Final = 200
"""Tokens of the line that names the tables of a tool's result."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers the query of a call; see `accp_core.projection.Ask`."""

    counter: TokenCounter
    """Counts the tokens of the model."""
    argument: str = ASK_NAME
    """The argument that holds the query."""

    def __call__(
        self,
        text: str,
        query: str,
        limits: ResultLimits,
        ordinary: Callable[[], Compressed | None],
        *,
        tool: str,
        is_first: bool,
    ) -> Compressed | None:
        """Return the answer, or the refusal and the ordinary form; None where the result is as short without it."""
        whole = Source(text, counter=self.counter, verbatim=limits.verbatim).view(max(limits.fetch, _SHOWN_WHOLE))
        if whole.tokens_after < _SHOWN_WHOLE:
            return None
        stored = StoredText.of(text)

        def compressed(shown: str) -> Compressed:
            before, after = whole.tokens_before, self.counter(shown)
            return Compressed(text=shown, layout=None, stored=stored, tokens_before=before, tokens_after=after)

        try:
            answered = compressed(self._answer(stored, query, limits.fetch, tool, is_first=is_first))
        except ProtocolError as refusal:
            return compressed(_refused(refusal, text, ordinary()))
        return answered if answered.tokens_after < whole.tokens_after else None

    def _answer(self, stored: StoredText, query: str, limit: int, tool: str, *, is_first: bool) -> str:
        texts = {stored.key: stored.text}
        size, tables = describe(stored.text)
        cited = f"{FETCH_NAME} {short_reference(stored.key)}"
        head = f"{MarkerStart.ASKED} over {size}; the whole: {cited}]\n"
        if is_first and tables and self.counter(tables) <= _MAX_TABLES:
            head += f"tables: {escape_markers(tables)}\n"
        room = max(1, limit - self.counter(head))
        request = FetchRequest(ref=stored.reference, query=query, tool=tool)
        return head + answer(texts, request, limit=room, counter=self.counter)


def _refused(refusal: ProtocolError, text: str, ordinary: Compressed | None) -> str:
    shown, layout = (ordinary.text, ordinary.layout) if ordinary else (text, None)
    below = shown if ordinary and ordinary.stored else views.escape_view(shown, layout)
    return f"{MarkerStart.ASKED} refused: {' '.join(str(refusal).split())}]\n{below}"


def with_query(tool: Mapping[str, Any], *, tables: str = "") -> Mapping[str, Any]:
    """Return the definition of a tool, in the layout of a provider or of MCP, with the argument.

    The object itself comes back where it has such an argument, or no schema of arguments that it could be added to.
    What is known of the `tables` of its results is said there.
    """
    if isinstance(function := tool.get("function"), Mapping):
        wanted = with_query(function, tables=tables)
        return tool if wanted is function else {**tool, "function": wanted}
    name, schema = schema_of(tool)
    if not name or has_query(tool) or "$ref" in schema:
        return tool
    wanted = {**schema, "properties": {**(schema.get("properties") or {}), ASK_NAME: _PROPERTY}}
    if tables:
        wanted["properties"][ASK_NAME] = {**_PROPERTY, "description": f"{_PROPERTY['description']}: {tables}"}
    if tool.get("strict"):
        # Providers require a strict schema to require all arguments; an empty text is no query.
        wanted["required"] = [*(schema.get("required") or ()), ASK_NAME]
    return {**tool, name: wanted}


def tables_in(schema: object, counter: TokenCounter) -> str:
    """Return the tables and columns of results of a JSON Schema, in at most 40 tokens: `orders(id, status)`."""
    said: list[str] = []
    for name, columns in islice(_tables(schema, schema, ()), _MAX_NAMES):
        for known in range(min(len(columns), _MAX_NAMES), 0, -1):
            shown = ", ".join([*columns[:known], *(["…"] if known < len(columns) else [])])
            if counter(", ".join([*said, f"{name}({shown})"])) <= _MAX_SAID:
                said.append(f"{name}({shown})")
                break
    return ", ".join(said)


def _tables(schema: object, root: object, path: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    """Yield the path of each array of objects, to three levels, and the names of their members."""
    members = list(islice(_properties(_referred(schema, root)).items(), _MAX_NAMES))
    items = _referred(schema, root).get("items")
    if columns := list(_properties(_referred(items, root))):
        # What SDKs wrap as `result` is the whole of the text.
        is_all = path in ((), ("result",)) and len(_properties(_referred(root, root))) < 2
        yield "rows" if is_all else ".".join(path), columns
    for name, member in members if len(path) < 3 else ():
        yield from _tables(member, root, (*path, name))


def _referred(schema: object, root: object) -> Mapping[str, Any]:
    """Return a schema, or the one in `$defs` to which it refers; an empty one where it is none."""
    name = str(schema.get("$ref", "")) if isinstance(schema, Mapping) else ""
    known = root.get("$defs") if isinstance(root, Mapping) else None
    found = known.get(name.removeprefix("#/$defs/")) if name and isinstance(known, Mapping) else schema
    return found if isinstance(found, Mapping) else {}


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def has_query(tool: Mapping[str, Any]) -> bool:
    """Return whether the arguments of a tool have one of this name, by its definition."""
    function = tool.get("function")
    _, schema = schema_of(function if isinstance(function, Mapping) else tool)
    return ASK_NAME in (schema.get("properties") or {})


def schema_of(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the key and the schema of the arguments in a definition; ("", {}): it has none."""
    found = ((name, tool[name]) for name in _SCHEMAS if isinstance(tool.get(name), Mapping))
    return next(found, ("", {}))


def without_query(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call as the tool is given them."""
    if ASK_NAME not in arguments:
        return arguments
    return {name: value for name, value in arguments.items() if name != ASK_NAME}
