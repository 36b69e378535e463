"""`python -m tests.harness.fuzz [target…]`: each target for FUZZ_SECONDS (30), a table of how many inputs ran.

FUZZ_INPUTS: again, from the corpus that was found so far, until so many inputs ran in all. FUZZ_JOBS (1): so many
targets at once. FUZZ_CORPUS: the folder of the corpora, which stay there. An input that breaks a target's invariant is
kept in `.fuzz/`, its target does not run again, and the exit code is 1.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.harness.fuzz.corpus import SEEDS, WORDS, write_corpus

__all__ = ["main"]

KEPT = Path(".fuzz")
LIMITS = (("FUZZ_SECONDS", "30"), ("FUZZ_INPUTS", "0"))
LONG = {"mcp", "a2a", "thread", "replay"}
"""Targets whose seeds are long; the others try more inputs that are short."""
TIMEOUT = 60
"""Seconds for one input: wall time, on a machine that may be busy."""
_STATISTIC = re.compile(r"stat::(\w+):\s+(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one target."""

    target: str
    seeds: int
    statistics: dict[str, int]
    """libFuzzer's own, by its names."""
    failure: str
    """Begins a new line: the end of what it printed, when an input broke the invariant."""

    @property
    def inputs(self) -> int:
        """Return how many inputs ran."""
        return self.statistics.get("number_of_executed_units", 0)

    def line(self) -> str:
        """Return the row of the table."""
        found = self.statistics.get("new_units_added", 0)
        memory = self.statistics.get("peak_rss_mb", 0)
        state = "BROKEN" if self.failure else "holds"
        return f"{self.target:<10}{self.seeds:>7,}{self.inputs:>12,}{found:>8,}{memory:>9,} MB  {state}"


def fuzz(target: str, seconds: int, folder: Path) -> Run:
    """Run one target."""
    seeds = write_corpus(target, folder / target)
    words = folder / f"{target}.words"
    words.write_text("\n".join(f'"{escaped(word)}"' for word in WORDS), encoding="utf-8")
    limits = [f"-max_total_time={seconds}", f"-timeout={TIMEOUT}", "-rss_limit_mb=2048", "-print_final_stats=1"]
    # Most of what short inputs find long ones find too, later.
    limits.append(f"-max_len={4_096 if target in LONG else 1_024}")
    command = [sys.executable, "-m", "tests.harness.fuzz.run", target, *limits, f"-dict={words}"]
    command += [f"-artifact_prefix={KEPT}/{target}-", str(folder / target)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    statistics = {name: int(value) for name, value in _STATISTIC.findall(done.stderr)}
    said = f"\n{done.stdout[-3_000:]}\n{done.stderr[-1_500:]}"
    return Run(target=target, seeds=seeds, statistics=statistics, failure=said if done.returncode else "")


def rounds(targets: Sequence[str], folder: Path, *, seconds: int, wanted: int) -> Iterator[Run]:
    """Run every target, and again those that hold until `wanted` inputs ran in all."""
    total = 0
    with ThreadPoolExecutor(int(os.environ.get("FUZZ_JOBS", "1"))) as pool:
        while targets:
            runs = []
            for run in pool.map(lambda target: fuzz(target, seconds, folder), targets):
                print(run.line() + run.failure, flush=True)
                runs.append(run)
            yield from runs
            total += sum(run.inputs for run in runs)
            print(f"{total:,} inputs", flush=True)
            targets = [run.target for run in runs if not run.failure] if total < wanted else []


def escaped(word: str) -> str:
    r"""Return a word as a dictionary of libFuzzer has it: bytes that are no plain character as `\xHH`."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in word.encode())


def main(targets: list[str]) -> int:
    """Fuzz each target, all for none; return 1 when an invariant broke."""
    if importlib.util.find_spec("atheris") is None:
        print("fuzz: skipped, atheris is not installed (it has no wheel for every Python and platform)")
        return 0
    seconds, wanted = (int(os.environ.get(name, default)) for name, default in LIMITS)
    KEPT.mkdir(exist_ok=True)
    print(f"{seconds} seconds each\n{'target':<10}{'seeds':>7}{'inputs':>12}{'new':>8}{'memory':>12}")
    with tempfile.TemporaryDirectory() as folder:
        corpora = Path(os.environ.get("FUZZ_CORPUS", folder))
        corpora.mkdir(parents=True, exist_ok=True)
        runs = list(rounds(targets or list(SEEDS), corpora, seconds=seconds, wanted=wanted))
    if not any(run.failure for run in runs):
        return 0
    print(f"what broke is in {KEPT}/")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
