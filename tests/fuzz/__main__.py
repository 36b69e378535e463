"""`python -m tests.fuzz [target…]`: each target for FUZZ_SECONDS (30), a table of how many inputs ran.

An input that breaks a target's invariant is kept in `.fuzz/`; the exit code is 1 then.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.corpus import SEEDS, WORDS, write_corpus

__all__ = ["main"]

KEPT = Path(".fuzz")
_STATISTIC = re.compile(r"stat::(\w+):\s+(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one target."""

    target: str
    seeds: int
    statistics: dict[str, int]
    """libFuzzer's own, by its names."""
    failure: str
    """The end of what it printed, when an input broke the invariant."""

    def line(self) -> str:
        """Return the row of the table."""
        inputs, found = (self.statistics.get(name, 0) for name in ("number_of_executed_units", "new_units_added"))
        memory = self.statistics.get("peak_rss_mb", 0)
        state = "BROKEN" if self.failure else "holds"
        return f"{self.target:<10}{self.seeds:>7,}{inputs:>12,}{found:>8,}{memory:>9,} MB  {state}"


def fuzz(target: str, seconds: int, folder: Path) -> Run:
    """Run one target."""
    seeds = write_corpus(target, folder / target)
    words = folder / "words"
    words.write_text("\n".join(f'"{escaped(word)}"' for word in WORDS), encoding="utf-8")
    limits = [
        f"-max_total_time={seconds}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        # A session reads line after line: with long inputs it would read few.
        f"-max_len={1_024 if target == 'session' else 4_096}",
        "-print_final_stats=1",
    ]
    command = [sys.executable, "-m", "tests.fuzz.run", target, *limits, f"-dict={words}"]
    command += [f"-artifact_prefix={KEPT}/{target}-", str(folder / target)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    statistics = {name: int(value) for name, value in _STATISTIC.findall(done.stderr)}
    said = f"{done.stdout[-3_000:]}\n{done.stderr[-1_500:]}"
    return Run(target=target, seeds=seeds, statistics=statistics, failure=said if done.returncode else "")


def escaped(word: str) -> str:
    r"""Return a word as a dictionary of libFuzzer has it: bytes that are no plain character as `\xHH`."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in word.encode())


def main(targets: list[str]) -> int:
    """Fuzz each target, all for none; return 1 when an invariant broke."""
    if importlib.util.find_spec("atheris") is None:
        print("fuzz: skipped, atheris is not installed (it has no wheel for every Python and platform)")
        return 0
    seconds = int(os.environ.get("FUZZ_SECONDS", "30"))
    KEPT.mkdir(exist_ok=True)
    print(f"{seconds} seconds each\n{'target':<10}{'seeds':>7}{'inputs':>12}{'new':>8}{'memory':>12}")
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for target in targets or SEEDS:
            runs.append(fuzz(target, seconds, Path(folder)))
            print(runs[-1].line(), flush=True)
    total = sum(run.statistics.get("number_of_executed_units", 0) for run in runs)
    print(f"{total:,} inputs; what broke is in {KEPT}/")
    for run in runs:
        if run.failure:
            print(f"\n--- {run.target}\n{run.failure}")
    return 1 if any(run.failure for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
