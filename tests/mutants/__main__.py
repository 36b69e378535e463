"""`python -m tests.mutants [pattern…]`: change the code in many small ways; 1 where nothing notices or explains one.

The patterns name mutants of mutmut, such as "accp_core.references.*", which is the default with compression. A mutant
that survives is explained in `explained.json`: the lines that it changes, as a difference shows them, and the reason.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["changes_of", "main"]

DEFAULT: Final = ("accp_core.references.*", "accp_core.compression*")
EXPLAINED: Final = Path(__file__).parent / "explained.json"
_SURVIVOR: Final = re.compile(r"(\S+): (survived|no tests)")


def mutmut(*arguments: str) -> str:
    """Return what mutmut prints."""
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def changes_of(difference: str) -> str:
    """Return the changed lines of a difference: "- before + after"."""
    lines = [line for line in difference.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    return " ".join(f"{line[0]} {line[1:].strip()}" for line in lines)


def main(patterns: list[str]) -> int:
    """Run mutmut; print how many mutants there are, and those that survive unexplained."""
    explained = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    print(mutmut("run", "--max-children", "2", *(patterns or DEFAULT)).splitlines()[-1:])
    survivors = {name: changes_of(mutmut("show", name)) for name, _ in _SURVIVOR.findall(mutmut("results"))}
    unexplained = {name: change for name, change in survivors.items() if change not in explained}
    print(f"{len(survivors)} survive, {len(survivors) - len(unexplained)} of them explained")
    for name, change in unexplained.items():
        print(f"{name}: {change}")
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
