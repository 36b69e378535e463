"""How many of the committed requests the preview of their document answers, without a query.

A request is answered where each string of its answer can be read in a line of what the model is sent; a short one or a
count only where the line has a word of the request, too. Where rows or lines are left out, an answer that is a list
must be said to be whole: "all shown".
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.fetching import FETCH_NAME
from accp_adapters.tokens import o200k_base
from accp_core import Compressed, ResultLimits, compress
from accp_core.tables import Table, open_text
from accp_core.tables.values import TypedColumn, is_left_out, type_column

__all__ = ["is_answered", "main", "wrong_statements"]

_DATA: Final = Path(__file__).parent / "requests"
_COUNTER: Final = o200k_base()
_LIMITS: Final = (ResultLimits(), ResultLimits(inline=600, preview=500))
"""The default, and previews of half as many tokens."""
_HEADS: Final = ("", "requests", "previews", "answered", "%", "tokens", "wrong")
_LISTS: Final = frozenset(("two conditions", "absence", "threshold"))
"""Kinds whose answer is a list, so that a reader must know that there are no more."""
_SHORT: Final = 4
"""Characters of an answer that may stand in a text by chance."""
_STEM: Final = 4
"""Characters that two spellings of a word have in common."""
_MARKUP: Final = re.compile(r"</?(?:[a-z][a-z0-9]*|![A-Z]+)(?:\s[^<>]*)?/?>|[\\\"]")
_WORD: Final = re.compile(r"[^\W_]+")
_COUNT: Final = re.compile(r"^(?P<where>[^;]+?): (?P<count>[0-9,]+) rows?(?P<all>, all shown)?(?:;|$)", re.MULTILINE)
_CONDITION: Final = re.compile(r'^"?(?P<column>[^"=<>≤≥]+?)"?(?P<op>[=<>≤≥]| is empty| is not empty)(?P<value>.*)$')


@dataclass(slots=True)
class _Sum:
    requests: int = 0
    previews: int = 0
    answered: int = 0
    tokens: int = 0
    wrong: int = 0

    def add(self, shown: Compressed, *, answered: bool, wrong: int) -> None:
        self.requests += 1
        self.previews += shown.stored is not None
        self.answered += answered
        self.tokens += shown.tokens_after
        self.wrong += wrong

    @property
    def cells(self) -> tuple[str, ...]:
        mean = f"{self.tokens / self.requests:,.0f}"
        share = percent(self.answered, self.requests)
        return f"{self.requests}", f"{self.previews}", f"{self.answered}", share, mean, f"{self.wrong}"


def main(data: Path | None, console: Console) -> None:
    """Print a table for each set of requests and each pair of limits; the requests need no data folder."""
    for name in ("requests", "other_forms"):
        requests = json.loads((_DATA / f"{name}.json").read_bytes())
        for limits in _LIMITS:
            title = f"{name}: answered without a query, results of over {limits.inline:,} tokens in {limits.preview:,}"
            console.print(plain_table(title, _HEADS, _rows(requests, limits)))


def _rows(requests: Sequence[Mapping[str, Any]], limits: ResultLimits) -> list[tuple[str, ...]]:
    sums: defaultdict[str, _Sum] = defaultdict(_Sum)
    for request in requests:
        text = _document(request)
        shown = compress(text, limits=limits, counter=_COUNTER, request=request["request"], open_with=FETCH_NAME)
        answered, wrong = is_answered(request, shown), len(wrong_statements(shown.text, text))
        for row in (request["kind"], f"  {request['form']}", "total"):
            sums[row].add(shown, answered=answered, wrong=wrong)
    return [(row, *sums[row].cells) for row in sorted(sums, key=lambda row: (row == "total", row[:2] == "  ", row))]


def _document(request: Mapping[str, Any]) -> str:
    path: Path = _DATA / "documents" / request["document"]
    return path.read_bytes().decode()


def is_answered(request: Mapping[str, Any], shown: Compressed) -> bool:
    """Return whether `shown` alone answers `request`."""
    if shown.stored is None:
        return True
    text = _plain(shown.text)
    wanted = {word[:_STEM] for word in _words(request["request"]) if len(word) >= _STEM or word.isdigit()}
    lines = text.split("\n")[1:]
    if counted := request.get("counted"):
        said = re.compile(rf"\({request['answer'][0]}\)|(?<![\w.]){request['answer'][0]} (?:row|line)s?\b")
        return any(said.search(line) and not wanted.isdisjoint(_stems(line)) for line in lines) or (
            "all shown" in text and all(_plain(part) in text for part in counted)
        )
    if request["kind"] in _LISTS and "all shown" not in text and _leaves_out(shown.text):
        return False
    return all(_stands(_plain(part), lines, wanted) for part in request["answer"])


def _stands(part: str, lines: list[str], wanted: set[str]) -> bool:
    if len(part) > _SHORT:
        return any(part in line for line in lines) or part in "\n".join(lines)
    found = re.compile(rf"(?<![\w.]){re.escape(part)}(?![\w.])")
    return any(found.search(line) and not wanted.isdisjoint(_stems(line)) for line in lines)


def _leaves_out(text: str) -> bool:
    return "[…" in text or re.search(r"rows?, [0-9,]+ shown", text) is not None


def _plain(text: str) -> str:
    return _MARKUP.sub("", text)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _words(text)}


def wrong_statements(shown: str, source: str) -> list[str]:
    """Return the lines of a preview that say how many rows meet some conditions, where that is not so."""
    tables = open_text(source).tables()
    wrong = []
    for line in _COUNT.finditer(shown):
        conditions = [found for part in line["where"].split(", ") if (found := _CONDITION.match(part))]
        if len(conditions) != len(line["where"].split(", ")):
            continue
        count = int(line["count"].replace(",", ""))
        known = [table for table in tables if all(found["column"] in table.columns for found in conditions)]
        if known and count not in {_count(table, conditions) for table in known}:
            wrong.append(line[0])
    return wrong


def _count(table: Table, conditions: list[re.Match[str]]) -> int:
    typed = {found["column"]: type_column([row.get(found["column"]) for row in table.rows]) for found in conditions}
    return sum(
        all(_meets(row.get(found["column"]), typed[found["column"]], number, found) for found in conditions)
        for number, row in enumerate(table.rows)
    )


def _meets(cell: Any, typed: TypedColumn, number: int, condition: re.Match[str]) -> bool:
    if condition["op"].endswith("empty"):
        return is_left_out(cell) != ("not" in condition["op"])
    if condition["op"] == "=" and type(cell) is list:
        return any(value in cell for value in _values(condition["value"]))
    if condition["op"] == "=":
        return any(value == cell or value == f"{cell}".casefold() for value in _values(condition["value"]))
    bound: Any = _number(condition["value"])
    own: Any = typed.values[number]
    if own is None:
        return False
    if bound is None or type(own) is str:
        bound, own = condition["value"].strip('"'), str(own)
    return bool({"<": own < bound, ">": own > bound, "≤": own <= bound, "≥": own >= bound}[condition["op"]])


def _values(text: str) -> Iterator[str]:
    return (value.strip('"').replace("\\n", "\n") for value in text.split("|"))


def _number(value: object) -> Decimal | None:
    try:
        return Decimal(f"{value}".replace(",", ""))
    except InvalidOperation:
        return None
