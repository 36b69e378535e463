"""The recorded data: the sessions of `corpora`, and the folder ACCP_DATA or `shared/data` beside the checkout."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from accp_adapters.replay import Findings, Run, read_runs

__all__ = ["committed_runs", "corpora_runs", "find_data", "read_json", "recorded_runs"]

CORPORA: Final = Path(__file__).parent / "corpora"

_COMMITTED: Final = Path(__file__).parent / "corpora" / "recorded_runs"
_DEFAULT: Final = Path(__file__).parents[2].parent / "shared" / "data"


def find_data() -> Path | None:
    """Return the folder with the recorded data, None where there is none."""
    folder = Path(os.environ.get("ACCP_DATA") or _DEFAULT)
    return folder if folder.is_dir() else None


def corpora_runs() -> list[Run]:
    """Return the sessions of coding agents that the repository holds, by the reader of `accp replay`.

    Raises:
        UnreadableRun: something in them is not understood.
    """
    return [run for path in sorted(CORPORA.glob("*.jsonl.gz")) for run in read_runs(path)]


def read_json(path: Path) -> Any:
    """Return the value of the JSON file at `path`."""
    return json.loads(path.read_text(encoding="utf-8"))


def recorded_runs(data: Path) -> tuple[list[Run], int]:
    """Return the recorded runs under `data`, and how many records are documented messages without a model call."""
    findings = Findings()
    paths = sorted((data / "trajectories").glob("*.jsonl"))
    runs = [run for path in paths for run in read_runs(path, findings=findings)]
    return runs, sum(finding.count for finding in findings)


def committed_runs() -> list[Run]:
    """Return the recorded runs that are a part of this repository: 68 of the 227 that have model calls."""
    return [run for path in sorted(_COMMITTED.glob("*.jsonl.gz")) for run in read_runs(path)]
