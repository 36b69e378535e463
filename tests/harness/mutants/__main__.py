"""`python -m tests.harness.mutants [prefix…]`: change the code; 1 where nothing notices or explains a change.

MUTANTS_EACH: at most so many changes of each module, always the same ones; of references and grants always all.
MUTANTS_JOBS (2): so many at once. MUTANTS_BUDGET (20): seconds of CPU that the tests of one change may take.
MUTANTS_SECONDS: modules not begun by then are named, and the exit code is 1.

The prefixes are the beginnings of names of changes, such as "accp_core.view."; the default is references, compression
and view. A whole name, as it is printed for a change that survives, is that change alone. A change that survives is
explained in `explained.json`: the lines that it changes, as a difference shows them, and why.
"""

import os
import random
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from tests.harness.mutants.changes import ROOT, Change, changes_in, modules_of
from tests.harness.mutants.explained import reason
from tests.harness.mutants.trial import Trial

__all__ = ["main"]

WHOLE: Final = "accp_core.references."
DEFAULT: Final = (WHOLE, "accp_core.compression", "accp_core.view.")
SETTINGS: Final = {"EACH": "0", "JOBS": "2", "BUDGET": "20", "SECONDS": "inf"}
TESTS: Final = (
    "tests/core/references", "tests/core/test_compression.py", "tests/core/previews", "tests/core/view",
    "tests/conformance/test_view_vectors.py", "tests/properties/test_view.py",
)  # fmt: skip
OPTIONS: Final = ("-q", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")


def chosen(module: str, prefixes: Sequence[str], each: int) -> list[Change]:
    """Return the changes of a module whose names begin with one of `prefixes`, or `each` of them."""
    changes = [change for change in changes_in(module) if any(_names(prefix, change) for prefix in prefixes)]
    is_sampled = each and not module.startswith(WHOLE)
    return random.Random(module).sample(changes, min(each, len(changes))) if is_sampled else changes


def _names(prefix: str, change: Change) -> bool:
    return change.name == prefix if "__mutmut_" in prefix else change.name.startswith(prefix)


class Verdict:
    """What came of the modules so far."""

    def __init__(self, modules: Mapping[str, Sequence[Change]]) -> None:
        """Begin."""
        self._modules = modules
        self.noticed = self.explained = self.unexplained = 0

    def show(self, module: str, survivors: Sequence[Change]) -> None:
        """Print what came of a module."""
        left = [each for each in survivors if reason(each) is None]
        tried, known = len(self._modules[module]), len(survivors) - len(left)
        noticed = tried - len(survivors)
        self.noticed, self.explained, self.unexplained = (
            self.noticed + noticed, self.explained + known, self.unexplained + len(left)
        )  # fmt: skip
        print(f"{module:<34}{tried:>5} tried{noticed:>5} noticed{known:>4} explained{len(left):>4} survive", flush=True)
        for survivor in left:
            print(f"  {survivor.name}: {survivor.difference}", flush=True)


def main(prefixes: list[str]) -> int:
    """Try the changes of every module; print a sum."""
    each, jobs, budget, seconds = (
        float(os.environ.get(f"MUTANTS_{name}", default)) for name, default in SETTINGS.items()
    )
    wanted = tuple(prefixes) or DEFAULT
    modules = {module: chosen(module, wanted, int(each)) for module in modules_of(wanted)}
    verdict = Verdict(modules)
    trial = Trial(modules, int(jobs), seconds, budget, verdict.show)
    os.environ |= {"CI": "1", "ACCP_MUTANTS": "1"}
    code = pytest.main([*OPTIONS, *(str(ROOT / each) for each in TESTS)], plugins=[trial])
    # 5: pytest itself ran no test.
    assert code in (0, 5), f"expected changes to be tried, found pytest's exit code {code}"
    left_out = f", not tried: {', '.join(trial.left_out)}" if trial.left_out else ""
    told = f"{verdict.noticed:,} noticed, {verdict.explained:,} explained, {verdict.unexplained} survive unexplained"
    print(f"{sum(map(len, modules.values())):,} changes, {told}{left_out}")
    return int(bool(verdict.unexplained or trial.left_out))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
