"""`python -m tests.mutants [pattern…]`: change the code in many small ways; 1 where nothing notices or explains one.

MUTANTS_EACH: at most so many mutants of each module, always the same ones.

The patterns name mutants of mutmut, such as "accp_core.view.*"; the default is all of references, compression and view.
A mutant that survives is explained in `explained.json`: the lines that it changes, as a difference shows them, and why.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Final

__all__ = ["changes_of", "main"]

DEFAULT: Final = ("accp_core.references.*", "accp_core.compression*", "accp_core.view.*")
EXPLAINED: Final = Path(__file__).parent / "explained.json"
_NAME: Final = re.compile(r"(\S+__mutmut_\d+):")
_SURVIVOR: Final = re.compile(r"(\S+): (survived|no tests)")


def mutmut(*arguments: str) -> str:
    """Return what mutmut prints."""
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def changes_of(difference: str) -> str:
    """Return the changed lines of a difference: "- before + after"."""
    lines = [line for line in difference.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    return " ".join(f"{line[0]} {line[1:].strip()}" for line in lines)


def chosen(patterns: Sequence[str], each: int) -> list[str]:
    """Return the names of `each` mutants of every module that the patterns name; the mutants are made first."""
    mutmut("run", "none")
    names = [name for name in _NAME.findall(mutmut("results", "--all", "true")) if matches(name, patterns)]
    modules = [list(group) for _, group in groupby(sorted(names), lambda name: name.rpartition(".")[0])]
    dice = random.Random(0)
    return [name for group in modules for name in dice.sample(group, min(each, len(group)))]


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a pattern names a mutant."""
    return any(fnmatch(name, pattern) for pattern in patterns)


def main(patterns: list[str]) -> int:
    """Run mutmut; print how many mutants there are, and those that survive unexplained."""
    explained = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    patterns, each = patterns or list(DEFAULT), int(os.environ.get("MUTANTS_EACH", "0"))
    print(mutmut("run", "--max-children", "2", *(chosen(patterns, each) if each else patterns)).splitlines()[-1:])
    found = _SURVIVOR.findall(mutmut("results"))
    survivors = {name: changes_of(mutmut("show", name)) for name, _ in found if matches(name, patterns)}
    unexplained = {name: change for name, change in survivors.items() if change not in explained}
    print(f"{len(survivors)} survive, {len(survivors) - len(unexplained)} of them explained")
    for name, change in unexplained.items():
        print(f"{name}: {change}")
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
