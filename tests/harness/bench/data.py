"""The recorded data: the runs of `corpora`, and the folder ACCP_DATA or `shared/data` beside the checkout."""

import json
import os
from pathlib import Path
from typing import Any, Final

from accp_adapters.replay import Run
from tests.harness.bench.recordings import read_recording

__all__ = ["CORPORA", "committed_runs", "find_data", "read_json", "recorded_runs"]

CORPORA: Final = Path(__file__).parent / "corpora"
_DEFAULT: Final = Path(__file__).parents[3].parent / "shared" / "data"


def find_data() -> Path | None:
    """Return the folder with the recorded data, None where there is none."""
    folder = Path(os.environ.get("ACCP_DATA") or _DEFAULT)
    return folder if folder.is_dir() else None


def committed_runs(name: str = "*") -> list[Run]:
    """Return the recorded runs that this repository holds, or those of one file."""
    return [run for path in sorted(CORPORA.glob(f"{name}.jsonl.gz")) for run in read_recording(path)]


def read_json(path: Path) -> Any:
    """Return the value of the JSON file at `path`."""
    return json.loads(path.read_text(encoding="utf-8"))


def recorded_runs(data: Path) -> tuple[list[Run], int]:
    """Return the recorded runs under `data`, and how many records are documented messages without a model call."""
    paths = sorted((data / "trajectories").glob("*.jsonl"))
    runs = [run for path in paths for run in read_recording(path)]
    return runs, sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) - len(runs)
