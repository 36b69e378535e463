"""The types of the public API are what is promised, and misuse is refused: mypy says so."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


def test_mypy_agrees() -> None:
    # With the configuration of the project, so that its cache serves: `make check` has just filled it.
    command = [sys.executable, "-m", "mypy", *(str(FOLDER / name) for name in ("public_api.py", "misuse.py"))]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
