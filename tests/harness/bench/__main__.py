"""`python -m tests.harness.bench [section…]`: the sections with these names, or all of SECTIONS."""

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rich.console import Console

from tests.harness.bench import patterns, payloads, trajectories
from tests.harness.bench.data import find_data

__all__ = ["SECTIONS", "main"]

BASELINES: Final = """\
Tokens are o200k_base. Compact JSON is json.dumps(value, ensure_ascii=False, separators=(",", ":")). Cost: a
prompt of 1,024 tokens or more costs 0.1 for each token of the prefix that it shares with its agent's last prompt (in
steps of 128) and 1.25 for each other token; a shorter prompt costs 1 for each token. Visible: of the values that a
model went on to use; reachable: visible, or in the answer of one fetch that asks for the value. Costlier: % of runs
whose cost rises by over 1 %. Larger: messages.
"""


def without_data(name: str) -> Callable[[Path | None, Console], None]:
    """Return the section of a module that needs no data; it is skipped where the module is missing."""

    def section(data: Path | None, console: Console) -> None:
        if importlib.util.find_spec(f"tests.harness.bench.{name}") is None:
            console.print(f"{name}: skipped, no tests/harness/bench/{name}.py")
            return
        importlib.import_module(f"tests.harness.bench.{name}").main()

    return section


def with_data(name: str) -> Callable[[Path | None, Console], None]:
    """Return the section of a module that is imported when it runs, because it imports a framework."""

    def section(data: Path | None, console: Console) -> None:
        importlib.import_module(f"tests.harness.bench.{name}").main(data, console)

    return section


SECTIONS: Final[Mapping[str, Callable[[Path | None, Console], None]]] = MappingProxyType(
    {
        "ordinary": with_data("ordinary"),
        "payloads": payloads.main,
        "tokenizers": payloads.tokenizers,
        "trajectories": trajectories.main,
        "no_names": trajectories.no_names,
        "hog": without_data("hog"),
        "patterns": patterns.main,
        "latency": with_data("latency"),
        "mcp_results": with_data("mcp_results"),
        "mcp_tools": with_data("mcp_tools"),
        "requests": with_data("answered_requests"),
    }
)


def main(names: Sequence[str], console: Console) -> int:
    """Print the sections in `names`, all where it is empty; return the exit code."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        console.print(f"expected one of {', '.join(SECTIONS)}, found {', '.join(unknown)}")
        return 2
    data = find_data()
    console.print(BASELINES)
    console.print(f"data: {data or 'none; set ACCP_DATA to the folder of the recorded data'}\n")
    for name in names or SECTIONS:
        SECTIONS[name](data, console)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Console() if sys.stdout.isatty() else Console(width=120)))
