"""`python -m tests.mutants [prefix…]`: change the code in many small ways; 1 where nothing notices or explains one.

MUTANTS_EACH: at most so many changes of each module, always the same ones; of references and grants always all.
MUTANTS_JOBS (2): so many at once. MUTANTS_SECONDS: modules not begun by then are named, and the exit code is 1.

The prefixes name modules, such as "accp_core.view."; the default is references, compression and view. A change that
survives is explained in `explained.json`: the lines that it changes, as a difference shows them, and why.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.mutants.changes import ROOT, Change, changes_in, modules_of
from tests.mutants.trial import Trial

__all__ = ["main"]

WHOLE: Final = "accp_core.references."
DEFAULT: Final = (WHOLE, "accp_core.compression", "accp_core.view.")
EXPLAINED: Final = Path(__file__).parent / "explained.json"
TESTS: Final = ("tests/core/references", "tests/core/test_compression.py", "tests/core/previews", "tests/core/view")
OPTIONS: Final = ("-q", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")


def chosen(module: str, each: int) -> list[Change]:
    """Return the changes of a module, or `each` of them."""
    changes = list(changes_in(module))
    is_sampled = each and not module.startswith(WHOLE)
    return random.Random(module).sample(changes, min(each, len(changes))) if is_sampled else changes


class Verdict:
    """What came of the modules so far."""

    def __init__(self, modules: Mapping[str, Sequence[Change]], explained: Mapping[str, str]) -> None:
        """Begin."""
        self._modules = modules
        self._explained = explained
        self.unexplained = 0

    def show(self, module: str, survivors: Sequence[Change]) -> None:
        """Print what came of a module."""
        left = [each for each in survivors if each.difference not in self._explained]
        self.unexplained += len(left)
        tried, known = len(self._modules[module]), len(survivors) - len(left)
        noticed = tried - len(survivors)
        print(f"{module:<34}{tried:>5} tried{noticed:>5} noticed{known:>4} explained{len(left):>4} survive", flush=True)
        for survivor in left:
            print(f"  {survivor.name}: {survivor.difference}", flush=True)


def main(prefixes: list[str]) -> int:
    """Try the changes of every module; print a sum."""
    each, jobs = (
        int(os.environ.get(name, default)) for name, default in (("MUTANTS_EACH", "0"), ("MUTANTS_JOBS", "2"))
    )
    modules = {module: chosen(module, each) for module in modules_of(tuple(prefixes) or DEFAULT)}
    verdict = Verdict(modules, json.loads(EXPLAINED.read_text(encoding="utf-8")))
    trial = Trial(modules, jobs, float(os.environ.get("MUTANTS_SECONDS", "inf")), verdict.show)
    os.environ |= {"CI": "1", "ACCP_MUTANTS": "1"}
    code = pytest.main([*OPTIONS, *(str(ROOT / each) for each in TESTS)], plugins=[trial])
    # 5: pytest itself ran no test.
    assert code in (0, 5), f"expected changes to be tried, found pytest's exit code {code}"
    left_out = f", not tried: {', '.join(trial.left_out)}" if trial.left_out else ""
    print(f"{sum(map(len, modules.values())):,} changes, {verdict.unexplained} survive unexplained{left_out}")
    return int(bool(verdict.unexplained or trial.left_out))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
