"""The tool `accp_fetch`: its definition for a model, and one call of it, read from the arguments that a model wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import find_references, mistyped_references, reference_to, split_reference
from accp_core.view.notation import LEGEND

__all__ = [
    "FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS", "MAX_REFERENCES", "FetchRequest", "read_request",
    "refuse", "too_much",
]  # fmt: skip


MAX_REFERENCES: Final = 8
"""References that one request may name."""

_AROUND: Final = re.compile(r"""[\s,;()\[\]<>`"']+""")
_STRING: Final = re.compile("'(?:[^']|'')*'")


def refuse(reason: str) -> ProtocolError:
    """Return the refusal of a request that was not understood (E1004)."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


def too_much(reason: str) -> ProtocolError:
    """Return the refusal of a request that takes too much time or memory (E2003)."""
    return ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """Which part of which stored texts a fetch asks for."""

    ref: str = ""
    """The references as the model wrote them, such as "$cold.…"; empty: the argument is missing."""
    query: str = ""
    """A SELECT, a condition, a path `a.b`, words to search; empty: everything. A SELECT may name references, too."""
    offset: int = 0
    """Rows (or lines) to skip."""
    limit: int | None = None
    """Rows (or lines) to return at most; None: as many as fit."""

    verbatim: frozenset[str] = frozenset()
    """The keys of texts that were shown as they are: words find their lines, not rows."""

    @property
    def is_part(self) -> bool:
        """Whether only some rows (or lines) are asked for."""
        return bool(self.offset) or self.limit is not None

    @property
    def named(self) -> int:
        """How many of `references` the argument `ref` names: the first ones."""
        return len(set(self._in_ref))

    @property
    def _in_ref(self) -> tuple[str, ...]:
        return _references_in(self.ref)

    @property
    def references(self) -> tuple[str, ...]:
        """The references that `ref` and `query` name, each once; what surrounds them (`accp_fetch`, marks) is left out.

        A caller opens each of them by the one check of grants. Where there is none, it is `ref` as it was written.

        Raises:
            ProtocolError: E1004, they are more than MAX_REFERENCES.
        """
        query = _STRING.sub("", self.query)
        in_query = tuple(map(reference_to, dict.fromkeys((*find_references(query), *mistyped_references(query)))))
        named = self._in_ref or ((self.ref,) if self.ref or not in_query else ())
        found = tuple(dict.fromkeys((*named, *in_query)))
        if len(found) > MAX_REFERENCES:
            raise refuse(f"expected at most {MAX_REFERENCES} references, found {len(found)}")
        return found


def read_request(arguments: object) -> FetchRequest:
    """Return the request that a model's arguments stand for; any may be missing or null, and numbers may be text.

    Args:
        arguments: The arguments of the call, usually an object; anything else counts as no arguments.

    Raises:
        ProtocolError: E1004, `offset` or `limit` is not a whole number from 0 on.
    """
    given = arguments if isinstance(arguments, Mapping) else {}
    ref, query = _text(given.get("ref")), _text(given.get("query"))
    if not query and (found := split_reference(ref)) and found[1].startswith("#/"):
        ref, query = found
    return FetchRequest(
        ref=ref,
        query=query,
        offset=_whole_number("offset", given.get("offset")),
        limit=_whole_number("limit", given.get("limit")) or None,
    )


def _references_in(written: str) -> tuple[str, ...]:
    """Return the references in `written`; one whose key is no hash is a word that begins with `$`."""
    hashes = tuple(map(reference_to, find_references(written)))
    return hashes or tuple(word for word in _AROUND.split(written) if word.startswith("$"))


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _whole_number(name: str, value: object) -> int:
    try:
        number = int(str(value or 0))
    except ValueError:
        number = -1
    if number < 0:
        raise refuse(f"expected {name!r} to be a whole number from 0 on, found {value!r}")
    return number


# The definition of the tool `accp_fetch`: its name, its description for a model and its parameters.

FETCH_NAME: Final = "accp_fetch"
"""The tool's name; its results are never compressed again."""

# The legend stands here and not in a system prompt, whose change would break the provider's cache.
FETCH_DESCRIPTION: Final = (
    "Queries $cold refs by SQLite SELECT (json_each; a text is lines(n, text); join: FROM $cold.a, $cold.b), "
    "condition, path (a.0.b) or words; default: rows that fit. " + LEGEND
)
"""What a model reads about the tool."""

# Written by hand: a schema made from a signature holds every default and costs half as many tokens again.
FETCH_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string"},
        "query": {"type": "string"},
        "offset": {"type": "integer"},
        "limit": {"type": "integer"},
    },
    "required": ["ref"],
}
"""The JSON Schema of its arguments."""
