"""The types of the public API are what is promised, and misuse is refused: mypy says so."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


@pytest.mark.parametrize("name", ["public_api.py", "misuse.py"])
def test_mypy_agrees(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--cache-dir", str(tmp_path)]
    # Without the configuration's list of packages, mypy checks this file alone and follows what it imports.
    command += ["--config-file", "", "--follow-imports", "silent", str(FOLDER / name)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
