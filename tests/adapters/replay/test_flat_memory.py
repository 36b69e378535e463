"""A log of four times as many runs is replayed in the same memory, whatever is printed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.replay.runs import trajectory
from tests.limits import PROGRAM_PATIENCE

RUNS = 60
CALLS = 12
GROWTH = 4000
"""Kilobytes that 180 more runs may take at most; kept one by one for `--json` they take several times as many."""
STATUS = Path("/proc/self/status")
# Not `ru_maxrss`: a new process begins with that of the one that started it.
PROGRAM = """
import io, sys
from accp_adapters.cli.app import app
out, sys.stdout = sys.stdout, io.TextIOWrapper(open("/dev/null", "wb"))
for path in sys.argv[1:]:
    for options in ([], ["--csv"], ["--json"]):
        app(["replay", "--policy", "compact-json", "--jobs", "1", path, *options], standalone_mode=False)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(peak.split()[1], file=out)
"""


def log(path: Path, runs: int) -> str:
    """Write a log of runs, each with words of its own, and return its path."""
    says = {"from": "clerk", "to": "user", "role": "assistant", "kind": "final", "llm": True}
    with path.open("w", encoding="utf-8") as file:
        for number in range(runs):
            rows = trajectory()["messages"]
            rows += [says | {"seq": n, "turn": n, "content": f"Seat {number}-{n}"} for n in range(5, 5 + CALLS)]
            file.write(json.dumps(trajectory(trajectory_id=f"t{number}", messages=rows)) + "\n")
    return str(path)


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="the memory of a process is read from /proc")
def test_many_runs_take_the_memory_of_few(tmp_path: Path) -> None:
    few, many = log(tmp_path / "few.jsonl", RUNS), log(tmp_path / "many.jsonl", 4 * RUNS)
    command = [sys.executable, "-c", PROGRAM, few, few, many]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    _, before, after = map(int, done.stdout.split())
    assert after - before < GROWTH
