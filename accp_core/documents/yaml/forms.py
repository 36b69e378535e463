"""The forms of YAML (see the package's docstring)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from accp_core.documents.yaml.reader import KEY, read_documents
from accp_core.documents.yaml.writer import describe_documents, write_documents
from accp_core.packing.expansion import Expansion

__all__ = ["DOCUMENT", "DOCUMENTS"]

_START: Final = re.compile(r"(?:(?:#[^\n]*+|---[ \t]*+(?:#[^\n]*+)?|[ \t]*+\r?)\n)*+(?:- +)*+([^\n]*+)")
_MARK: Final = re.compile(r"\n---[ \t]*+\r?(?:\n|#)")
_SENTENCE_WORDS: Final = 3
"""Words of a value that may be a sentence."""
_MAX_SENTENCES: Final = 7 / 8
"""Share of values that are sentences from which a text is prose; descriptions of tools have up to 0.8."""


@dataclass(eq=False, slots=True)
class _Yaml:
    CODE: str
    IS_SEVERAL: bool

    def recognise(self, text: str) -> bool:
        """Return whether `text` begins with a key or a dash, behind comments, and has as many documents as expected."""
        found = _START.match(text)
        if found is None or KEY.match(found[1].rstrip()) is None:
            return False
        return (_MARK.search(text, found.start(1)) is not None) is self.IS_SEVERAL

    def read(self, text: str) -> object:
        """Return the value, an array of those of several documents."""
        values, has_rows = read_documents(text)
        is_expected = len(values) > 1 if self.IS_SEVERAL else has_rows and len(values) == 1
        if not is_expected or not _is_data(values):
            raise ValueError("expected YAML that is data, found prose")
        return values if self.IS_SEVERAL else values[0]

    def describe(self, text: str, value: object) -> str | None:
        """Return the layout (see `writer`)."""
        return describe_documents(text, self._documents(value))

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text in a layout."""
        return write_documents(self._documents(value), how, expansion)

    def _documents(self, value: object) -> list[Any]:
        if not self.IS_SEVERAL:
            return [value]
        if type(value) is not list or len(value) < 2:
            raise ValueError(f"expected an array for several documents, found {type(value).__name__!r}")
        return value


DOCUMENT: Final = _Yaml("y", IS_SEVERAL=False)
DOCUMENTS: Final = _Yaml("Y", IS_SEVERAL=True)


def _is_data(documents: list[Any]) -> bool:
    """Return whether there are few sentences, no headings, and more than a list."""
    if len(documents) > 1 and not all(isinstance(document, dict) and len(document) > 1 for document in documents):
        return False
    if any(" " in key and member and isinstance(member, (dict, list)) for key, member in _first_members(documents)):
        return False
    left: list[Any] = [documents]
    values = sentences = 0
    while left:
        node = left.pop()
        for member in node.values() if isinstance(node, dict) else node:
            if isinstance(member, (dict, list)) and member:
                left.append(member)
            else:
                values += 1
                sentences += isinstance(member, str) and len(member.split(None, _SENTENCE_WORDS)) >= _SENTENCE_WORDS
    return sentences < values * _MAX_SENTENCES


def _first_members(documents: list[Any]) -> list[tuple[str, Any]]:
    return [pair for document in documents if isinstance(document, dict) for pair in document.items()]
