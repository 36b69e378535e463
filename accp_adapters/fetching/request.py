"""The tool `accp_fetch`: its definition for a model, one call of it, and the work that an answer may take.

Work is counted, so that every process comes to the same answer. A clock ends only what takes far longer than it counts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_core.bounded import WATCH
from accp_core.documents import looks_cut
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import find_references, mistyped_references, reference_to, split_reference
from accp_core.tables import OpenedText, count_lines, open_text
from accp_core.tables.table import MAX_CHARS, is_openable, work_of
from accp_core.view.notation import LEGEND

__all__ = [
    "FETCH_DESCRIPTION", "FETCH_NAME", "FETCH_PARAMETERS", "MAX_REFERENCES", "STEP_CHARS", "FetchRequest", "LongText",
    "WorkBudget", "open_bounded", "read_request", "refuse", "too_long", "too_much",
]  # fmt: skip


_MAX_DIGITS: Final = 15
MAX_REFERENCES: Final = 8
"""References that one request may name."""

_AROUND: Final = re.compile(r"""[\s,;()\[\]<>`"']+""")
_WATCHED: Final = 10_000
"""Steps after which a query checks again that its caller still waits."""
_MAX_SECONDS: Final = 5.0
"""Processor time of all steps: most take less than a tenth of a microsecond, a comparison of long cells far more."""
STEP_CHARS: Final = 20
"""Characters that take as long as one instruction of SQLite's machine."""
_STRING: Final = re.compile("'(?:[^']|'')*'")


def refuse(reason: str) -> ProtocolError:
    """Return the refusal of a request that was not understood (E1004)."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


def too_much(reason: str) -> ProtocolError:
    """Return the refusal of a request that takes too much time or memory (E2003)."""
    return ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)


class WorkBudget:
    """The steps of work that are left for one answer; a step is about an instruction of SQLite's machine."""

    def __init__(self, steps: float, reason: str) -> None:
        """Begin.

        Args:
            steps: The steps.
            reason: What was expected, for the refusal.
        """
        self.left = steps
        self._watched = steps
        self._end: Final = time.thread_time() + _MAX_SECONDS
        self._reason: Final = reason

    def use(self, steps: int) -> bool:
        """Count steps; return whether there were too many. What `WATCH` raises passes on, at each further call, too."""
        self.left -= steps
        if self.left < self._watched:
            WATCH.get()()
            self._watched = self.left - _WATCHED
            if time.thread_time() > self._end:
                self.left = -1
        return self.left < 0

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            ProtocolError: E2003, there were too many.
        """
        if self.use(steps):
            raise too_much(self._reason)


def too_long(text: str) -> ProtocolError:
    """Return the refusal of a query of the values or tables of a text that is too long for them (E2003)."""
    expected = f"expected a text of at most {MAX_CHARS:,} characters, lines and cells counted, for a query"
    lines = f"lines 1-{min(count_lines(text), 97)}, " * (count_lines(text) > 1)
    return too_much(f"{expected}, found {work_of(text):,}; use words, {lines}or offset and limit")


class LongText(OpenedText):
    """A text that is too long to be opened: it has lines and words only."""


def open_bounded(text: str) -> OpenedText:
    """Return the value in a text; a text that is too long is only lines."""
    return open_text(text) if is_openable(text) else LongText(value=text, prose=text, cut=looks_cut(text))


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
        return len(set(_references_in(self.ref)))

    @property
    def references(self) -> tuple[str, ...]:
        """The references that `ref` and `query` name, each once; what surrounds them (`accp_fetch`, marks) is left out.

        A caller opens each of them by the one check of grants. Where there is none, it is `ref` as it was written.

        Raises:
            ProtocolError: E1004, `ref` is missing, or they are more than MAX_REFERENCES.
        """
        query = _STRING.sub("", self.query)
        in_query = tuple(map(reference_to, dict.fromkeys((*find_references(query), *mistyped_references(query)))))
        if not self.ref and not in_query:
            raise refuse("expected the argument 'ref' with a reference such as '$cold.…', found none")
        named = _references_in(self.ref) or ((self.ref,) if self.ref else ())
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
    offset, limit = (_whole_number(name, given.get(name)) for name in ("offset", "limit"))
    return FetchRequest(ref=ref, query=query, offset=offset, limit=limit or None)


def _references_in(written: str) -> tuple[str, ...]:
    """Return the references in `written`; one whose key is no hash is a word that begins with `$`."""
    hashes = tuple(map(reference_to, find_references(written)))
    return hashes or tuple(word for word in _AROUND.split(written) if word.startswith("$"))


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _whole_number(name: str, value: object) -> int:
    written = str(value or 0)
    if not written.isdecimal() or len(written) > _MAX_DIGITS:
        raise refuse(f"expected {name!r} to be a whole number from 0 on, found {value!r}")
    return int(written)


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
_TYPES: Final = {"ref": "string", "query": "string", "offset": "integer", "limit": "integer"}
_PROPERTIES: Final = {name: {"type": kind} for name, kind in _TYPES.items()}
FETCH_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": _PROPERTIES, "required": ["ref"]}
"""The JSON Schema of its arguments."""
