"""Table 6a: the CPU time and the peak memory of the preview of a large result, for many shapes of it."""

from __future__ import annotations

import base64
import itertools
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from rich.console import Console

from accp_adapters.tokens import count_o200k
from accp_core.compression import ResultLimits, compress
from tests.written_forms import WRITERS

__all__ = ["main"]

SIZE: Final = 10_000_000
"""Characters of a result."""
TIMES: Final = 5
"""How much larger the result is that tells whether the time is linear."""
_NUMBERS: Final = ("     MB", "     s", f"s, {TIMES} times as long", "ratio", "peak / size", "tokens")
REQUEST: Final = "Which orders of user u4711 are late, with a total over 900?"

_chance: Final = random.Random(7)

Make = Callable[[int], str]
"""Returns a result of about so many characters."""


def _grow(member: Make, head: str = "[", tail: str = "]", between: str = ",") -> Make:
    def make(chars: int) -> str:
        members: list[str] = []
        size = 0
        while size < chars:
            members.append(member(len(members)))
            size += len(members[-1]) + len(between)
        return head + between.join(members) + tail

    return make


def _row(number: int) -> str:
    status = _chance.choice(("paid", "late", "open"))
    return f'{{"id": "ord_{number:06}", "total": {_chance.random() * 2_000:.2f}, "status": "{status}"}}'


def _indented(number: int) -> str:
    return json.dumps(json.loads(_row(number)), indent=4)


def _keyed(value: Make) -> Make:
    return lambda number: f'"u{number}":{value(number)}'


def _deep(number: int) -> str:
    return f'{{"a": {{"b": {{"c": {{"d": {{"e": {number}, "f": "{number}"}}}}}}}}}}'


def _parent(number: int) -> str:
    lines = ", ".join(f'{{"sku": "s{each}", "qty": {each}}}' for each in range(4))
    return f'{{"id": {number}, "lines": [{lines}]}}'


def _wide(number: int) -> str:
    return json.dumps({f"col{each}": number * each for each in range(300)})


def _event(number: int) -> str:
    level = "INFO" if number % 5_000 else "ERROR"
    return f"2026-01-{number % 28 + 1:02} {level} GET /items/{number} took {_chance.randrange(900)} ms"


def _cells(number: int) -> str:
    return f"{number},ord_{number:06},{_chance.randrange(2_000)},late"


def _words(words: tuple[str, ...], between: str = " ") -> Make:
    return lambda number: f"{between.join(_chance.choices(words, k=12)).capitalize()}."


def _code(number: int) -> str:
    return f'function f{number}(a,b){{var c=a[{number % 97}]||"x{number}";return c.d(b)?e(c,{number}):null}}'


def _page(number: int) -> str:
    return f'<tr class="row r{number % 7}"><td><a href="/o/{number}">Order {number}</a></td><td>late</td></tr>'


def _base64(chars: int) -> str:
    return base64.b64encode(_chance.randbytes(chars * 3 // 4)).decode()


def _embedding(number: int) -> str:
    vector = ",".join(f"{_chance.random():.9f}" for _ in range(1_536))
    return f'{{"id":{number},"text":"{_sentence(number)}","vector":[{vector}]}}'


def _parts(count: int, part: Callable[[int, str], str], head: str, tail: str) -> Make:
    """Return the maker of a text of few members that are long: each holds rows."""
    return lambda chars: head + ",".join(part(each, _grow(_row)(chars // count)) for each in range(count)) + tail


def _unlike(number: int) -> str:
    return (f'"k{number}":{number}', f'"k{number}":[{number}]', f'"k{number}":{{"n{number}":"x"}}')[number % 3]


def _in_json(make: Make) -> Make:
    return lambda chars: json.dumps({"text": make(chars)})


def _of(part: str) -> Make:
    return lambda chars: part * (chars // len(part))


def _table(write: Callable[[list[dict[str, Any]]], str]) -> Make:
    """Return the maker of a table in a form."""

    def rows(count: int) -> list[dict[str, Any]]:
        return [json.loads(_row(number)) | {"paid": number % 2 == 0, "note": None} for number in range(count)]

    return lambda chars: write(rows(max(2, chars * 200 // len(write(rows(200))))))


_sentence: Final = _words(("alpha", "beta", "order", "request", "found"))
_LETTERS: Final = tuple("\u65e5\u672c\u8a9e\u4e2d\u6587\u6c49\u5b57\u8ba2\u5355\u8fdf\u5230")
_SIGNS: Final = tuple("\U0001f600\U0001f680\U0001f4e6\u2705\u2764\ufe0f")

SHAPES: Final[Mapping[str, Make]] = {
    "rows": _grow(_row),
    "rows, indented": _grow(_indented),
    "rows in a JSON string": lambda chars: json.dumps(_grow(_row)(chars)),
    "map of maps": _grow(_keyed(_row), "{", "}"),
    "deep rows": _grow(_deep, '{"data":{"items":[', "]}}"),
    "map of deep maps": _grow(_keyed(_deep), "{", "}"),
    "children": _grow(_parent, '{"orders":[', "]}"),
    "numbers": _grow(str),
    "strings": _grow(lambda number: json.dumps(_sentence(number))),
    "strings as \\u65e5": _grow(lambda number: json.dumps("".join(_chance.choices(_LETTERS, k=9)))),
    "arrays of arrays": _grow(lambda number: f"[{number},{number * 7 % 997},0.5]"),
    "wide rows": _grow(_wide),
    "two arrays in a map": _parts(2, lambda n, rows: f'"part{n}":{rows}', "{", "}"),
    "arrays in few maps": _parts(4, lambda n, rows: f'"part{n}":{{"page":{n},"rows":{rows}}}', "{", "}"),
    "arrays in an array": _parts(3, lambda n, rows: rows, "[", "]"),
    "few rows, many children": _parts(12, lambda n, rows: f'{{"id":{n},"lines":{rows}}}', "[", "]"),
    "many children in one row": lambda chars: f'[{{"id":1}},{{"id":2,"lines":{_grow(_row)(chars)}}},{{"id":3}}]',
    "a matrix": _parts(2, lambda n, rows: _grow(lambda n: f"{n * 7 % 997}")(len(rows)), '{"m":[', "]}"),
    "embeddings": _grow(_embedding),
    "a map of unlike members": _grow(_unlike, "{", "}"),
    "rows, cut off": lambda chars: _grow(_row)(chars)[:-9],
    "rows, then prose": _grow(_row, tail="] and so on"),
    "rows written by Python": lambda chars: repr(json.loads(_grow(_row)(chars))),
    "documents, indented": _grow(_indented, "", "", "\n"),
    "one level in another": lambda chars: f"{'[' * (chars // 2)}{']' * (chars // 2)}",
    "lines of JSON": _grow(_row, "", "", "\n"),
    "CSV": _grow(_cells, "id,order,total,status\n", "", "\n"),
    "log": _grow(_event, "", "", "\n"),
    "log, CRLF and LF": lambda chars: _grow(_event, "", "", "\n")(chars).replace("00 ms\n", "00 ms\r\n"),
    "log with one emoji": lambda chars: _grow(_event, "", f"\n{_SIGNS[0]}", "\n")(chars),
    "prose": _grow(_sentence, "", "", "\n"),
    "one line": _grow(_sentence, "", "", " "),
    "prose in a JSON string": _in_json(_grow(_sentence, "", "", "\n")),
    "the same with one emoji": lambda chars: _in_json(_grow(_sentence, "", f"\n{_SIGNS[0]}", "\n"))(chars),
    "a JSON string with one emoji": lambda chars: json.dumps(_grow(_sentence, "", f"\n{_SIGNS[0]}", "\n")(chars)),
    "rows, one emoji, in a JSON string": lambda chars: json.dumps(_grow(_row, tail=f', "{_SIGNS[0]}"]')(chars)),
    "Chinese and Japanese": _grow(_words(_LETTERS, ""), "", "", "\n"),
    "emoji": _grow(_words(_SIGNS), "", "", "\n"),
    "HTML": _grow(_page, "<html><table>", "</table></html>", "\n"),
    "JavaScript in one line": _grow(_code, "", "", ";"),
    "blanks": _of(" "),
    "line feeds": _of("\n"),
    "one letter": _of("x"),
    "brackets": _of("[{"),
    "base64": _base64,
    "base64 in JSON": _in_json(_base64),
    "hex": lambda chars: _chance.randbytes(chars // 2).hex(),
    **{f"table: {name}": _table(write) for name, write in WRITERS.items() if not name.startswith("JSON")},
}


def main() -> None:
    """Print the table, each line when it was measured; the names of shapes as further arguments choose them."""
    chosen = {name: make for name, make in SHAPES.items() if name in sys.argv} or SHAPES
    console = Console(width=120, highlight=False)
    console.print("6a. previews of large results")
    columns = ("result", *_NUMBERS)
    for cells in itertools.chain([columns], itertools.starmap(_line, chosen.items())):
        console.print(
            cells[0].ljust(34), *(cell.rjust(len(name)) for name, cell in zip(_NUMBERS, cells[1:], strict=True))
        )


def _line(name: str, make: Make) -> tuple[str, ...]:
    text = make(SIZE)
    size = len(text.encode())
    seconds, tokens = _measure(text)
    tracemalloc.start()
    _show(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    longer, _ = _measure(make(TIMES * SIZE))
    return (
        name, f"{size / 1e6:.1f}", f"{seconds:.2f}", f"{longer:.2f}", f"{longer / seconds:.1f}", f"{peak / size:.2f}",
        f"{tokens:,}",
    )  # fmt: skip


def _measure(text: str) -> tuple[float, int]:
    """Return the CPU time of a preview in seconds, and its tokens."""
    start = time.process_time()
    tokens = _show(text)
    return time.process_time() - start, tokens


def _show(text: str) -> int:
    make = partial(compress, limits=ResultLimits(), counter=count_o200k, request=REQUEST, open_with="accp_fetch")
    return make(text).tokens_after


if __name__ == "__main__":
    main()
