"""Three workers behind one port, killed in turn under load."""

import asyncio
import runpy
import secrets
from pathlib import Path

import pytest

from tests.limits import LONG

APP = Path(__file__).parents[2] / "integrations" / "many_workers" / "app.py"
# Each kind costs seconds of CPU; the contract of every store is tested beside the stores.
KILLS = dict.fromkeys(("sqlite", "redis"), 50) if LONG else {"sqlite": 2}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KILLS)
def test_nothing_acknowledged_is_lost_and_nothing_answered_twice(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """ACCP 3.7: "Frames with a previously seen "msg_id" MUST be rejected": each request is answered once."""
    store = f"sqlite:{tmp_path / 'store'}" if kind == "sqlite" else request.getfixturevalue(f"{kind}_url")
    load = {} if LONG else {"sessions": 2, "pace": 0.1}
    run = runpy.run_path(str(APP))["run"]
    report = asyncio.run(run(store, KILLS[kind], tmp_path, prefix=secrets.token_hex(4), **load))
    print(kind, report)
    assert report.faults == []
    assert report.kills == KILLS[kind]
    assert report.answered > 0
