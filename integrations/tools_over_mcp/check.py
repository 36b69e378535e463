"""Start the agent as a user would and check its results: exit code 0 if all are right, 77 if servers are missing."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_SERVERS = 77


def best_region() -> str:
    """Return the right answer, computed from the file."""
    sums: Counter[str] = Counter()
    with (HERE / "data" / "sales.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sums[row["region"]] += round(100 * float(row["revenue"]))
    [(region, cents)] = sums.most_common(1)
    return f"{region} earns most: {cents / 100:.2f} of {sum(sums.values()) / 100:.2f} euros."


def main() -> int:
    """Check answers, artifacts and tokens of both runs."""
    run = subprocess.run([sys.executable, str(HERE / "app.py"), "--json"], capture_output=True, text=True)
    if run.returncode == NO_SERVERS:
        print(run.stderr.splitlines()[-1])
        return NO_SERVERS
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["answers"] == [best_region()] * 2, found["answers"]
    plain, ours = found["artifacts"]
    assert plain == ours, "programs must read the same"
    *results, all_results, all_prompts = found["rows"]
    assert [row["tool"] for row in results] == ["directory_tree", "read_text_file", "create_entities", "read_graph"]
    assert all(row["ours"] <= row["plain"] for row in results), results
    assert all_results["ours"] < 0.8 * all_results["plain"], all_results
    assert all_prompts["ours"] < 0.85 * all_prompts["plain"], all_prompts
    print("the same answer and the same artifacts, in fewer tokens")
    return 0


if __name__ == "__main__":
    sys.exit(main())
