"""Finds the JSON documents in a text, with the style in which each is written; Python literals and YAML, too."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from accp_core.packing.block_yaml import read_block_yaml
from accp_core.packing.cut_json import end_of_json, read_cut_json
from accp_core.packing.embedded_json import LINE_STYLES, read_styled_json, write_styled_json
from accp_core.packing.literal import read_literal
from accp_core.strict_json import has_surrogate_pair

__all__ = ["Document", "Literal", "find_documents"]

_MIN_DOCUMENT_CHARS: Final = 16
"""Characters of a document inside other text; a shorter one saves nothing."""
_MAX_READS: Final = 10
"""How many times the characters of a text are read on average."""
_CUT_READS: Final = 4
"""How many times the characters of a document are read to find out where it was cut off."""
# A document inside other text begins a line or follows a colon; code and quotations are left as they are.
_START: Final = re.compile(r'(?:^[ \t]*|(?<=: ))([\[{])(?=\s*["\[{])', re.MULTILINE)
_END: Final = re.compile(r"[ \t]*\r?$", re.MULTILINE)
# The `repr` of an object that is not a list or dict: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# What `repr` writes; Python prints a warning when it reads escapes that `repr` does not write.
_ESCAPE: Final = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_SINGLE: Final = rf"'(?:[^'\\\n]|{_ESCAPE})*+"
_DOUBLE: Final = rf'"(?:[^"\\\n]|{_ESCAPE})*+'
_STRING: Final = rf"""{_SINGLE}'|{_DOUBLE}\""""
_PYTHON: Final = re.compile(rf"(?:[\[\]{{}}]|[,:] |True|False|None|-?[0-9][0-9.]*+(?:e[+-][0-9]+)?|{_STRING})*+")
_PYTHON_TOKEN: Final = re.compile(rf"{_STRING}|True|False|None")
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_ESCAPED_HALF: Final = re.compile(r"\\ud[89a-f]")
_LINE_FORMS: Final = frozenset(f"j{style}" for style in LINE_STYLES)
"""Forms of documents that are in one line."""
_CUT_LINE: Final = re.compile(r'\n[\[{]["\[{][^\n]*+\Z')
# A literal that was cut off, perhaps within an escape, ends the line.
_LITERAL: Final = re.compile(rf"(?<==)(?:{_STRING}|(?P<open>{_SINGLE}|{_DOUBLE})(?:\\[xuU]?[0-9a-f]*)?\Z)")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document, or a string literal, in a source."""

    start: int
    """The position of its first character in the source."""
    end: int
    """The position behind its last character."""
    value: object
    """Its value; for a string literal the value of the one document in it, or else its text."""
    form: str
    """`j` JSON or `l` JSON Lines, with the code of the style; `p` a Python literal; `y` block YAML; `q` a string
    literal."""
    cut: int | None = None
    """Characters that are written from the value, of which the source was cut off; None: all."""
    literal: Literal | None = None
    """What a string literal holds; None: it is none."""

    @property
    def is_cut(self) -> bool:
        """Whether the source was cut off in it."""
        literal = self.literal
        if literal is None:
            return self.cut is not None
        return bool(literal.open_quote) or any(document.is_cut for document in literal.documents)


@dataclass(frozen=True, slots=True)
class Literal:
    """A text as Python writes it: in quotes, with escapes."""

    text: str
    """The text without quotes and escapes."""
    documents: list[Document]
    """The documents in the text."""
    open_quote: str = ""
    """The quote with which a literal begins that was cut off; "" where it ends with one, too."""


def find_documents(source: str, *, literals: bool = True) -> list[Document]:
    """Return the documents in `source`, from left to right; `literals`: string literals, too."""
    start = len(source) - len(source.lstrip())
    end = len(source.rstrip())
    body = source[start:end]
    if not body or has_surrogate_pair(source):
        return []
    if (value := read_block_yaml(body)) is not None:
        return [Document(start, end, value, "y")]
    if all(sign not in body for sign in "{[\\"):
        return []
    for read_as in (_as_json, _as_lines, _as_python):
        document = read_as(body)
        if document is not None:
            return [Document(start, end, *document)]
    if literals and _REPR.match(body):
        line = source.find("\n", start, end)
        stop = end if line == -1 else line
        found = list(_LITERAL.finditer(source, start, stop))
        if stop == end or (found and found[-1]["open"]):
            return list(_literals(found))
    return list(_with_lines(source, _embedded(source)))


def _as_json(body: str) -> tuple[object, str] | None:
    document = read_styled_json(body) if body.startswith(("[", "{")) else None
    return (document[0], f"j{document[1]}") if document and document[0] else None


def _as_lines(body: str) -> tuple[object, str] | None:
    lines = body.split("\n")
    if len(lines) < 2 or not all(line[:1] in ("{", "[") for line in lines):
        return None
    values: list[object] = []
    styles: list[str] = []
    for line in lines:
        document = read_styled_json(line)
        if document is None:
            return None
        values.append(document[0])
        styles.append(document[1])
    return _in_one_style(values, styles, lines)


def _in_one_style(values: list[object], styles: list[str], lines: list[str]) -> tuple[object, str] | None:
    # An ASCII line is the same in both styles of its kind, a line such as `[1]` in all; one line may have signs that
    # the style escapes, and another the raw Unicode.
    raw = [f"{style}u" for style in styles if f"{style}u" in LINE_STYLES]
    for style in dict.fromkeys([*styles, *raw]):
        if all(
            own == style or write_styled_json(value, style) == line
            for value, own, line in zip(values, styles, lines, strict=True)
        ):
            return values, f"l{style}"
    return None


def _as_python(body: str) -> tuple[object, str] | None:
    """Read the `str` of a list or dict, which many tools print instead of JSON."""
    if (
        not body.startswith(("[", "{"))
        or "'" not in body
        or _PYTHON.fullmatch(body) is None
        or _ESCAPED_HALF.search(body)
    ):
        return None
    try:
        # As JSON it is read many times faster than by `ast`.
        value = json.loads(_PYTHON_TOKEN.sub(_json_token, body))
    except (ValueError, RecursionError, SyntaxError):
        return None
    return (value, "p") if value and repr(value) == body else None


def _json_token(token: re.Match[str]) -> str:
    """Return a Python literal that is no number as JSON."""
    written = token[0]
    if written in _PYTHON_WORDS:
        return _PYTHON_WORDS[written]
    if "\\" in written:
        return json.dumps(ast.literal_eval(written))
    escaped = written[1:-1].replace('"', '\\"')
    return f'"{escaped}"'


def _embedded(source: str) -> Iterator[Document]:
    """Yield the documents inside other text; no character is read more than a few times."""
    at, budget = 0, _MAX_READS * len(source)
    while budget > 0 and (start := _START.search(source, at)):
        at = start.start(1)
        try:
            end, is_whole = end_of_json(source, at)
        except RecursionError:
            return
        budget -= end - at
        if is_whole:
            document = _document_at(source, at, end)
        else:
            budget -= _CUT_READS * (end - at)
            document = _cut_document_at(source, at, end)
        if document is not None:
            yield document
        at = document.end if document else end if is_whole else start.end()


def _document_at(source: str, start: int, end: int) -> Document | None:
    written = source[start:end]
    if len(written) < _MIN_DOCUMENT_CHARS or "{" not in written or _END.match(source, end) is None:
        return None
    document = read_styled_json(written)
    return Document(start, end, document[0], f"j{document[1]}") if document else None


def _cut_document_at(source: str, start: int, end: int) -> Document | None:
    document = read_cut_json(source, start, end)
    if document is None:
        return None
    return Document(start, start + document.chars, document.value, f"j{document.style}", document.chars)


def _with_lines(source: str, documents: Iterator[Document]) -> Iterator[Document]:
    """Yield `documents` with one document of JSON Lines in place of those that follow each other line by line."""
    lines: list[Document] = []
    for document in documents:
        if lines and not _is_next_line(source, lines[-1], document):
            yield from _merged(source, lines)
            lines = []
        lines.append(document)
    yield from _merged(source, lines)


def _is_next_line(source: str, before: Document, document: Document) -> bool:
    return (
        document.start == before.end + 1
        and source[before.end] == "\n"
        and before.cut is None
        and document.cut is None
        and _is_line(source, before)
        and _is_line(source, document)
    )


def _is_line(source: str, document: Document) -> bool:
    return document.form in _LINE_FORMS and (document.start == 0 or source[document.start - 1] == "\n")


def _merged(source: str, documents: list[Document]) -> list[Document]:
    if len(documents) < 2:
        return documents
    start, end = documents[0].start, documents[-1].end
    styles = [document.form[1:] for document in documents]
    values = [document.value for document in documents]
    merged = _in_one_style(values, styles, source[start:end].split("\n"))
    if merged is None:
        return documents
    document = Document(start, end, *merged)
    # A line that follows and was cut off is not read.
    return [replace(document, cut=end - start) if _CUT_LINE.match(source, end) else document]


def _literals(found: list[re.Match[str]]) -> Iterator[Document]:
    """Yield the string literals of a repr whose escapes stand for line breaks, quotes or a JSON document."""
    for literal in found:
        written = literal["open"] or literal[0]
        quote = written[0] if literal["open"] else ""
        if len(written) < _MIN_DOCUMENT_CHARS or "\\" not in written:
            continue
        text = read_literal(written, quote)
        if text is None:
            continue
        documents = find_documents(text, literals=False)
        value = documents[0].value if len(documents) == 1 else text
        start = literal.start()
        yield Document(start, start + len(written), value, "q", literal=Literal(text, documents, quote))
