"""A folder of recorded runs, JSON lines or Parquet, replayed on a Ray cluster: the totals of `accp replay`.

    python integrations/replay_on_ray/app.py logs/ --policy lossless,default --cpus 2

One worker reads a file and replays its runs, because the records of a file may continue each other.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet
import ray

from accp_adapters.replay import Findings, Report, Run, StrategyName, read_runs, replay_all, runs_of

SUFFIXES = (".json", ".jsonl", ".ndjson", ".jsonl.gz", ".parquet")


def runs_in(path: str, findings: Findings) -> Iterator[Run]:
    """Yield the runs of one file; each row of a Parquet file is a record."""
    if not path.endswith(".parquet"):
        return read_runs(path, findings=findings)
    batches = pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=16)
    rows = (filled(row) for batch in batches for row in batch.to_pylist())
    return runs_of(enumerate(rows, 1), path=path, findings=findings)


def filled(value: Any) -> Any:
    """Return a row without the columns that it has only because another row has them."""
    match value:
        case {"record": str(text), **others} if not others:
            return json.loads(text)
        case dict():
            return {name: filled(each) for name, each in value.items() if each is not None}
        case list():
            return list(map(filled, value))
    return value


def read_file(batch: dict[str, Any]) -> Iterator[dict[str, list[Any]]]:
    """Yield each run of a file, then what was not understood of it."""
    findings = Findings()
    for run in runs_in(str(batch["path"][0]), findings):
        yield {"run": [run], "unknown": [""]}
    yield {"run": [None], "unknown": ["\n".join(map(str, findings.not_understood()))]}


def replay_run(row: dict[str, Any], names: list[StrategyName]) -> dict[str, Any]:
    """Return the replays of one run, and the process that made them."""
    replays = next(replay_all([row["run"]], names, processes=1)) if row["run"] else None
    return {"replays": replays, "worker": os.getpid(), "unknown": row["unknown"]}


def replay_folder(folder: str, policies: list[str]) -> dict[str, Any]:
    """Return the sums of each policy, what was not understood, and how many processes replayed."""
    files = (str(path) for path in sorted(Path(folder).rglob("*")) if path.name.endswith(SUFFIXES))
    paths = [{"path": path} for path in files if not path.endswith(".tools.json")]
    names = [StrategyName.AS_RECORDED, *map(StrategyName, policies)]
    runs = ray.data.from_items(paths).map_batches(read_file, batch_size=1)
    reports = [Report(keep_runs=0) for _ in policies]
    unknown, workers = [], set()
    for row in runs.map(replay_run, fn_kwargs={"names": names}).iter_rows():
        unknown += row["unknown"].splitlines()
        if row["replays"]:
            workers.add(row["worker"])
            before, *others = row["replays"]
            for report, after in zip(reports, others, strict=True):
                report.add(before, after)
    sums = [{"strategy": report.strategy, "total": asdict(report.total())} for report in reports]
    return {"policies": sums, "not_understood": unknown, "workers": len(workers)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", help="on every node of the cluster")
    parser.add_argument("--policy", default="default", help="names with commas, as of `accp replay`")
    parser.add_argument("--cpus", type=int, help="start Ray on this machine; without it, the cluster of RAY_ADDRESS")
    options = parser.parse_args()
    # Ray reports its use to its makers where nobody says otherwise.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=options.cpus, log_to_driver=False, logging_level="ERROR")
    done = replay_folder(options.folder, options.policy.split(","))
    print(json.dumps(done, indent=1))
    sys.exit(3 if done["not_understood"] else 0)
