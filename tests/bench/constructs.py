"""Table 3: what each construct of the notation earns: the tokens of views in which it is switched off.

A construct stays if it lowers the recorded tool results by 0.1 %, or two payloads by 2 %.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from unittest.mock import patch

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.tokens import o200k_base
from accp_core.packing import columns
from accp_core.packing.tree import Table
from accp_core.view import Options, render, write
from tests.bench.data import read_json
from tests.bench.made_payloads import MADE_PAYLOADS
from tests.bench.tool_results import recorded_values

__all__ = ["main"]

_DEFAULT: Final = Options()
_MIN_SHARE: Final = 0.02
"""Share of the tokens of a payload from which a construct counts as earning something there."""


def _nothing(*arguments: object) -> None:
    return None


def _in_each_row(values: list[object]) -> columns.Column:
    return columns._pack_values(columns.written_out(values))


def _in_brackets(values: list[object]) -> Table | None:
    table = columns.pack_table(values)
    if table and table.slots is None:
        table.slots = [columns.NEXT_ROW] * table.rows
    return table


def _only_whole(values: list[object]) -> Table | None:
    table = columns.pack_table(values)
    return table if table and table.slots is None else None


Switch = tuple[object, str, object]
CONSTRUCTS: Final[Mapping[str, tuple[Options, tuple[Switch, ...]]]] = MappingProxyType(
    {
        "`[n] columns` and all within tables": (
            _DEFAULT,
            tuple((write._ViewWriter, name, _nothing) for name in ("pack_rows", "pack_inline", "pack_keyed")),
        ),
        "`{n} key: columns`": (_DEFAULT, ((write._ViewWriter, "pack_keyed", _nothing),)),
        "`id==key`": (_DEFAULT, ((columns, "_are_keys", lambda column, keys: False),)),
        "`[:columns: row;row]`": (_DEFAULT, ((write._ViewWriter, "pack_inline", _nothing),)),
        "`(k=v)`": (_DEFAULT, ((columns, "pack_column", _in_each_row),)),
        "`k{a b}`": (_DEFAULT, ((columns, "_pack_maps", _in_brackets),)),
        "`k={a b}`": (_DEFAULT, ((columns, "_pack_maps", _only_whole),)),
        "`k[a b]`": (_DEFAULT, ((columns, "_pack_lists", _nothing),)),
        "`k?`": (_DEFAULT, ((columns, "_MAX_FILL", 0.0), (columns, "_MAX_GAP", 10**9))),
        "a comma ends a cell": (_DEFAULT, ((write, "_spaced", lambda values, kinds: 0),)),
        "a text below its line": (_DEFAULT, ((write, "_is_block", lambda text: False),)),
        "`[{`": (_DEFAULT, ((write, "_is_one_map", lambda items: False),)),
        "`&1` and `*1`": (Options(repeated_values=False), ()),
        "`k=${a}/b`": (Options(derived=False), ()),
        "`!json`": (Options(embedded_json=False), ()),
    }
)
"""Options of a view without the construct, and what is replaced where no option leaves it out."""


def main(data: Path | None, console: Console) -> None:
    """Print the table, or a line that says why it was skipped."""
    if data is None:
        console.print("constructs: skipped, no data folder (set ACCP_DATA)")
        return
    results = list(recorded_values(data))
    paths = [*(data / "payloads").glob("*.json"), *(data / "json_documents" / "mcp_tool_definitions").glob("*.json")]
    payloads: dict[str, object] = {path.stem: read_json(path) for path in sorted(paths)}
    payloads |= {name: make(random.Random(name)) for name, make in MADE_PAYLOADS.items()}
    whole, whole_of = _tokens(results, _DEFAULT), _tokens_of(payloads, _DEFAULT)
    lines = []
    for name, (options, switches) in CONSTRUCTS.items():
        with ExitStack() as switched:
            for owner, attribute, value in switches:
                switched.enter_context(patch.object(owner, attribute, value))
            without, without_of = _tokens(results, options), _tokens_of(payloads, options)
        more = [payload for payload, tokens in whole_of.items() if without_of[payload] - tokens >= _MIN_SHARE * tokens]
        rest = sum(without_of.values()), sum(whole_of.values())
        lines.append((name, f"{without - whole:+,}", percent(without - whole, whole), f"{rest[0] - rest[1]:+,}", more))
    title = f"3. tokens more without a construct: tool results take {whole:,}, payloads {sum(whole_of.values()):,}"
    shown = [(*line, f"{len(more)}: {', '.join(more[:3])}") for *line, more in lines]
    console.print(plain_table(title, ("", "tool results", "%", "payloads", "of these by 2 %"), shown))


def _tokens(values: list[Any], options: Options) -> int:
    count: Callable[[str], int] = o200k_base()
    return sum(count(render(value, counter=o200k_base(), options=options)) for value in values)


def _tokens_of(payloads: Mapping[str, object], options: Options) -> dict[str, int]:
    return {name: _tokens([value], options) for name, value in payloads.items()}
