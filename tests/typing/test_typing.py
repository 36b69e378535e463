"""The types of the public API are what is promised, and misuse is refused: mypy says so."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


def test_mypy_agrees(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--cache-dir", str(tmp_path)]
    # Without the configuration's list of packages, mypy checks these files alone and follows what they import.
    command += ["--config-file", "", "--follow-imports", "silent"]
    command += [str(FOLDER / name) for name in ("public_api.py", "misuse.py")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
