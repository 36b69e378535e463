"""`python -m tests.harness.bench [section…]`: the sections with these names, or all of SECTIONS."""

import importlib
import sys
from collections.abc import Sequence
from typing import Final

from rich.console import Console

from tests.harness.bench.data import find_data

__all__ = ["SECTIONS", "main"]

BASELINES: Final = """\
Tokens are o200k_base. Compact JSON is json.dumps(value, ensure_ascii=False, separators=(",", ":")). Cost: a
prompt of 1,024 tokens or more costs 0.1 for each token of the prefix that it shares with its agent's last prompt (in
steps of 128) and 1.25 for each other token; a shorter prompt costs 1 for each token. Visible: of the values that a
model went on to use; reachable: visible, or in the answer of one fetch that asks for the value. Costlier: % of runs
whose cost rises by over 1 %. Larger: messages.
"""
SECTIONS: Final = (
    "ordinary", "payloads", "tokenizers", "trajectories", "hog", "patterns", "latency", "mcp_results", "mcp_tools",
    "requests",
)  # fmt: skip
_PLACES: Final = {"tokenizers": ("payloads", "tokenizers"), "requests": ("answered_requests", "main")}
"""The module and the function of a section, where it is not `main` of the module with its name."""
_INSTALL: Final = "pip install --group test --group all-tests '.[all]'"


def main(names: Sequence[str], console: Console) -> int:
    """Print the sections in `names`, all where it is empty; return the exit code."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        console.print(f"expected one of {', '.join(SECTIONS)}, found {', '.join(unknown)}")
        return 2
    data = find_data()
    console.print(BASELINES)
    console.print(f"data: {data or 'none; set ACCP_DATA to the folder of the recorded data'}\n")
    missing = 0
    for name in names or SECTIONS:
        module, function = _PLACES.get(name, (name, "main"))
        try:
            section = getattr(importlib.import_module(f"tests.harness.bench.{module}"), function)
        except ModuleNotFoundError as error:
            console.print(f"{name}: not run, expected the package {error.name!r}; try: {_INSTALL}", markup=False)
            missing = 1
        else:
            section(data, console)
    return missing


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Console() if sys.stdout.isatty() else Console(width=120)))
