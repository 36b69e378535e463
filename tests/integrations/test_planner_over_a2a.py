"""The planner over A2A: it is started as a user starts it, and its own check looks at it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import PROGRAM_PATIENCE

pytest.importorskip("mcp.server", reason="the MCP server behind one of the agents")

FOLDER = Path(__file__).parents[2] / "integrations" / "planner_over_a2a"


def numbers(text: str, name: str) -> list[int]:
    """Return the tokens in the line of a table that begins with `name`."""
    (line,) = [line for line in text.splitlines() if re.match(rf"(\| )?{name}\b.*[0-9]", line)]
    return [int(found.replace(",", "")) for found in re.findall(r"\b[0-9,]{3,}\b", line)]


@pytest.mark.slow
def test_the_check_passes_and_the_readme_shows_what_it_prints() -> None:
    command = [sys.executable, "-W", "error", str(FOLDER / "check.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the same answer" in done.stdout
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in ("master", "support", "analyst", "all"):
        # Ids that the plain server makes up have more or fewer tokens each time.
        assert numbers(done.stdout, name) == pytest.approx(numbers(readme, name), rel=0.05)
