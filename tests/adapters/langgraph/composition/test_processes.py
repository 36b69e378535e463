"""Another process comes to the same bytes, wherever it takes over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.langgraph.composition.digests import play
from tests.adapters.langgraph.composition.harness import TURNS
from tests.limits import PATIENCE

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the digests of the prompts when one process does all."""
    return play(str(tmp_path_factory.mktemp("one") / "checkpoints.sqlite"), 0, len(TURNS))


@pytest.mark.slow
def test_another_process_sends_the_same_bytes(undisturbed: list[str], tmp_path: Path) -> None:
    place = str(tmp_path / "checkpoints.sqlite")
    turns = len(TURNS) - 1
    before = play(place, 0, turns)
    command = [sys.executable, "-m", "tests.adapters.langgraph.composition.digests", place, str(turns), str(len(TURNS))]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert answer.returncode == 0, answer.stderr
    assert [*before, *answer.stdout.split()] == undisturbed


def test_a_process_that_knows_other_conversations_sends_the_same_bytes(undisturbed: list[str], tmp_path: Path) -> None:
    place = str(tmp_path / "checkpoints.sqlite")
    digests = [digest for turn in range(len(TURNS)) for digest in play(place, turn, turn + 1)]
    assert digests == undisturbed
