"""Questions about a document, made from its data; the answer of each follows from the data alone."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accp_adapters.evaluation.reading.documents import Document
from accp_adapters.evaluation.reading.tables import (
    DocumentTable,
    Scalar,
    find_tables,
    is_same,
    path_in_words,
    scalars_by_path,
    texts_by_path,
)

__all__ = ["QUESTION_KINDS", "ExpectedAnswer", "Question", "questions_of"]

ExpectedAnswer: TypeAlias = Scalar | tuple[Scalar, ...]
"""What is right: a value, or the values of a list in any order."""
_Made: TypeAlias = tuple[str, dict[str, Any], ExpectedAnswer]
"""The words of a question, what it asks in terms of the data, and its answer."""

_MIN_COUNT: Final = 2
_MAX_FILTERED: Final = 6
_PAIR: Final = re.compile(r"^([\w-]{2,40})(?:: |,)([\w.-]{1,40})$", re.MULTILINE)
_WIDE: Final = 8
"""Columns of a table from which on a reader may slip to a neighbour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its answer."""

    id: str
    """The document, the kind and a number."""
    document: str
    """The name of its document."""
    kind: str
    """One of `QUESTION_KINDS`."""
    text: str
    """The question."""
    answer: ExpectedAnswer
    """What is right."""
    asks: Mapping[str, Any] = field(default_factory=dict)
    """The same in terms of the data: path of the list, key, column, conditions."""
    distractors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The class of an error to the wrong answers that show it: "row", "column"."""


def questions_of(document: Document, *, seed: int, per_kind: int = 1) -> list[Question]:
    """Return questions about a document, `per_kind` of each kind that it allows; the same seed gives the same ones."""
    found: list[Question] = []
    for kind, make in QUESTION_KINDS.items():
        chance = random.Random(f"{seed} {document.name} {kind}")
        made: dict[str, Question] = {}
        for _ in range(per_kind * 4):
            if (one := make(document.value, chance)) and len(made) < per_kind:
                text, asks, answer = one
                made.setdefault(text, _question(document, kind, len(made), text, asks, answer))
        found += made.values()
    return found


def _question(
    document: Document, kind: str, number: int, text: str, asks: dict[str, Any], answer: ExpectedAnswer
) -> Question:
    return Question(
        id=f"{document.name}/{kind}/{number}",
        document=document.name,
        kind=kind,
        text=text,
        answer=answer,
        asks=asks,
        distractors=_distractors(document.value, asks),
    )


def _distractors(value: Any, asks: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the values of the same column in other rows, and of the same row in other columns."""
    table = next((table for table in find_tables(value) if table.path == asks.get("path")), None)
    if table is None or "column" not in asks or "is" not in asks:
        return {}
    rows = [row for row in table.rows if row.get(asks["key"]) == asks["is"]]
    return {
        "row": tuple(str(each) for each in table.values(asks["column"])),
        "column": tuple(str(each) for row in rows for name, each in row.items() if name != asks["column"]),
    }


# --- kinds ------------------------------------------------------------------------------------------------------------


def _lookup(value: Any, chance: random.Random) -> _Made | None:
    return _look_up(_pick(chance, find_tables(value)), chance, lambda table, row: _others(table, row))


def _wide_lookup(value: Any, chance: random.Random) -> _Made | None:
    """A column between others, where a reader slips to the left or right."""
    wide = [table for table in find_tables(value) if len(table.columns) >= _WIDE]
    return _look_up(_pick(chance, wide), chance, lambda table, row: _others(table, row)[2:-1])


def _repeated_lookup(value: Any, chance: random.Random) -> _Made | None:
    """A value that occurs in several rows, which a view may write once and refer to."""

    def shared(table: DocumentTable, row: Mapping[str, Scalar]) -> list[str]:
        return [name for name in _others(table, row) if type(row[name]) is str and len(str(row[name])) > 20]

    return _look_up(_pick(chance, find_tables(value)), chance, shared)


def _look_up(
    table: DocumentTable | None,
    chance: random.Random,
    choose: Callable[[DocumentTable, Mapping[str, Scalar]], list[str]],
) -> _Made | None:
    row = _pick(chance, table.rows if table else [])
    column = _pick(chance, choose(table, row) if table and row else [])
    if table is None or row is None or column is None or table.key is None:
        return None
    entry = f"the entry whose `{table.key}` is {_word(row[table.key])}"
    text = f"In {path_in_words(table.path)}, what is `{column}` of {entry}?"
    return text, _asks(table, column=column, **{"is": row[table.key]}), row[column]


def _reverse(value: Any, chance: random.Random) -> _Made | None:
    table = _pick(chance, find_tables(value))
    column = _pick(chance, table.columns[1:] if table else [])
    row = _pick(chance, [row for row in table.unique(column) if row[column] is not None] if table and column else [])
    if table is None or column is None or row is None or table.key is None or column == table.key:
        return None
    text = (
        f"In {path_in_words(table.path)}, which `{table.key}` has the entry whose `{column}` is {_word(row[column])}?"
    )
    return text, _asks(table, where={column: row[column]}), row[table.key]


def _counting(value: Any, chance: random.Random, *, conditions: int) -> _Made | None:
    table = _pick(chance, find_tables(value))
    row = _pick(chance, table.rows if table else [])
    if table is None or row is None:
        return None
    common = [name for name in row if name != table.key and table.count(name, row[name]) >= _MIN_COUNT]
    if len(common) < conditions:
        return None
    where = {name: row[name] for name in chance.sample(common, conditions)}
    text = f"In {path_in_words(table.path)}, how many entries have {_conditions(where)}? Answer with a number."
    return text, _asks(table, where=where, count=True), len(_matching(table, where))


def _maximum(value: Any, chance: random.Random) -> _Made | None:
    table = _pick(chance, find_tables(value))
    numeric = [
        name for name in (table.columns if table else []) if table and name != table.key and _is_numeric(table, name)
    ]
    column = _pick(chance, numeric)
    if table is None or column is None or table.key is None:
        return None
    best = max(table.rows, key=lambda row: _number(row[column]))
    if table.count(column, best[column]) > 1:
        return None
    text = f"In {path_in_words(table.path)}, which `{table.key}` has the entry with the greatest `{column}`?"
    return text, _asks(table, greatest=column), best[table.key]


def _filter(value: Any, chance: random.Random) -> _Made | None:
    table = _pick(chance, find_tables(value))
    row = _pick(chance, table.rows if table else [])
    if table is None or row is None or table.key is None:
        return None
    few = [name for name in _others(table, row) if _MIN_COUNT <= table.count(name, row[name]) <= _MAX_FILTERED]
    if (column := _pick(chance, few)) is None:
        return None
    where = {column: row[column]}
    text = (
        f"In {path_in_words(table.path)}, which `{table.key}` have the entries with {_conditions(where)}? "
        "ExpectedAnswer with all of them as a JSON list."
    )
    return text, _asks(table, where=where), tuple(row[table.key] for row in _matching(table, where))


def _absent(value: Any, chance: random.Random) -> _Made | None:
    """Null or absent: only where a column of the list is null or missing in some entry."""
    table = _pick(chance, find_tables(value))
    if table is None or table.key is None:
        return None
    partly = [name for name in table.columns if "." not in name and any(row.get(name) is None for row in table.rows)]
    column = _pick(chance, partly)
    row = _pick(
        chance,
        [row for row in table.rows if row.get(column) is None] if column and chance.random() < 0.7 else table.rows,
    )
    if column is None or row is None:
        return None
    state = "absent" if column not in row else "null" if row[column] is None else "value"
    text = (
        f"In {path_in_words(table.path)}, is `{column}` of the entry whose `{table.key}` is {_word(row[table.key])} "
        'a value, null, or absent (the entry has no such key)? Answer "value", "null" or "absent".'
    )
    return text, _asks(table, column=column, state=True, **{"is": row[table.key]}), state


def _next_row(value: Any, chance: random.Random) -> _Made | None:
    table = _pick(chance, find_tables(value))
    if table is None or table.key is None:
        return None
    place = chance.randrange(len(table.rows) - 1)
    here, following = table.rows[place][table.key], table.rows[place + 1][table.key]
    text = (
        f"In {path_in_words(table.path)}, which `{table.key}` has the entry directly after the one whose `{table.key}` "
        f"is {_word(here)}?"
    )
    return text, _asks(table, after=here), following


def _path(value: Any, chance: random.Random) -> _Made | None:
    found = _pick(chance, list(scalars_by_path(value)))
    if found is None:
        return None
    path, answer = found
    return f"What is the value of {path_in_words(path)}?", {"path": path}, answer


def _inside_text(value: Any, chance: random.Random) -> _Made | None:
    """A line such as `name: value` or `name,value` of a text that is a document itself."""
    pairs = [(path, name, each) for path, text in texts_by_path(value) for name, each in _pairs_in(text)]
    if not pairs:
        return None
    path, name, answer = chance.choice(pairs)
    text = f"In the text {path_in_words(path)}, which value stands beside {_word(name)}?"
    return text, {"path": path, "beside": name}, answer


def _pairs_in(text: str) -> list[tuple[str, str]]:
    """Return the names and values of the lines whose name no other line has."""
    pairs = _PAIR.findall(text)
    names = Counter(name for name, _ in pairs)
    return [(name, value) for name, value in pairs if names[name] == 1]


QUESTION_KINDS: Final[Mapping[str, Callable[[Any, random.Random], _Made | None]]] = MappingProxyType(
    {
        "lookup": _lookup,
        "wide lookup": _wide_lookup,
        "repeated lookup": _repeated_lookup,
        "reverse lookup": _reverse,
        "count": partial(_counting, conditions=1),
        "count by two": partial(_counting, conditions=2),
        "maximum": _maximum,
        "filter": _filter,
        "null or absent": _absent,
        "next entry": _next_row,
        "path": _path,
        "inside a text": _inside_text,
    }
)
"""The kind of a question to what makes one, None where the document allows none."""


# --- words and choices ------------------------------------------------------------------------------------------------


def _pick(chance: random.Random, choices: Sequence[Any]) -> Any:
    return chance.choice(choices) if choices else None


def _others(table: DocumentTable, row: Mapping[str, Scalar]) -> list[str]:
    return [name for name in table.columns if name in row and name != table.key]


def _matching(table: DocumentTable, where: Mapping[str, Scalar]) -> list[dict[str, Scalar]]:
    return [row for row in table.rows if all(name in row and is_same(row[name], each) for name, each in where.items())]


def _asks(table: DocumentTable, **more: Any) -> dict[str, Any]:
    return {"path": table.path, "key": table.key, **more}


def _word(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _conditions(where: Mapping[str, Scalar]) -> str:
    return " and ".join(f"`{name}` = {_word(value)}" for name, value in where.items())


def _is_numeric(table: DocumentTable, column: str) -> bool:
    values = table.values(column)
    return len(values) == len(table.rows) and all(type(value) in (int, float) for value in values)


def _number(value: Scalar) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
