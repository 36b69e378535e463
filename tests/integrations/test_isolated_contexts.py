"""The team with isolated contexts: it is started as a process, like a user would, and checks itself."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from accp_adapters.langgraph import read_interaction
from integrations.isolated_contexts.prompt_log import PromptLog

pytest.importorskip("langgraph.checkpoint.postgres")

FOLDER = Path(__file__).parents[2] / "integrations" / "isolated_contexts"
NAMES = ("app", "check", "database", "models", "shop")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    import app  # type: ignore[import-not-found]  # noqa: PLC0415  a script beside its modules

    yield app
    for name in NAMES:
        sys.modules.pop(name, None)


def test_a_run_that_broke_in_the_middle_goes_on_and_repeats_nothing(app: ModuleType, tmp_path: Path) -> None:
    import check  # type: ignore[import-not-found]  # noqa: PLC0415  a script beside its modules

    app.make_shop(tmp_path)
    tickets, away = tmp_path / "tickets.csv", tmp_path / "away.csv"
    tickets.rename(away)
    log, config = app.PromptLog(), {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string(str(tmp_path / "state.sqlite")) as saver:
        graph = app.isolated_team(tmp_path, tmp_path, log, catch=()).compile(checkpointer=saver)
        with pytest.raises(FileNotFoundError):
            graph.invoke({}, config)
        assert calls(log) == {"planner": 1, "sales": 3, "support": 1}
        away.rename(tickets)
        state = graph.invoke(None, config)
    assert state["answer"] == check.expected(tmp_path)[0]
    assert calls(log) == {"planner": 1, "sales": 3, "support": 4, "writer": 4, "reporter": 1}


def test_a_worker_that_fails_is_an_answer_and_says_who_waited_for_it(app: ModuleType, tmp_path: Path) -> None:
    app.make_shop(tmp_path)
    (tmp_path / "tickets.csv").unlink()
    log = app.PromptLog()
    state = app.isolated_team(tmp_path, tmp_path, log).compile().invoke({})
    results = read_interaction(state).results
    assert results["sales"].done
    assert results["support"].reason.startswith("FileNotFoundError: ")
    assert results["writer"].reason.startswith("stopped: subtask 's2' (support) failed: FileNotFoundError: ")
    assert calls(log) == {"planner": 1, "sales": 3, "support": 1, "reporter": 1}
    assert state["answer"].startswith("73 customers; ")


def calls(log: PromptLog) -> dict[str, int]:
    """Return how often each agent's model was called."""
    return {agent: len(prompts) for agent, prompts in log.prompts.items()}


@pytest.mark.slow
def test_the_check_passes() -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(FOLDER / "check.py")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    *_, last = done.stdout.splitlines()
    assert last.startswith("SQLite: right, ")


@pytest.mark.slow
def test_it_says_where_it_keeps_the_run_and_what_it_took(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(FOLDER / "app.py"), "--sqlite", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("SQLite files instead of PostgreSQL: chosen by --sqlite\nSQLite: 73 customers; ")
    told = figures((FOLDER / "README.md").read_text(encoding="utf-8"))
    measured = figures(done.stdout)
    assert list(measured) == list(told) == ["shared history", "isolated contexts"]
    for name, numbers in measured.items():
        assert numbers == pytest.approx(told[name], rel=0.01)


def figures(text: str) -> dict[str, list[float]]:
    """Return the rows of the table in a text: name to numbers."""
    rows = re.findall(r"^\| (\w+ \w+) \|((?: [0-9,]+ \|)+)$", text, re.MULTILINE)
    return {name: [float(cell.replace(",", "")) for cell in cells.split("|") if cell.strip()] for name, cells in rows}
