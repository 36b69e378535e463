"""tau2-bench: solvers that read only their prompts do its own tasks, which its own checks judge."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from accp_adapters.evaluation.solvers import UserSolver, tau2_solver
from accp_adapters.evaluation.tau2 import TAU2_DOMAINS, evaluate_tau2, read_tasks

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        read_tasks("retail")
    except ImportError as missing:
        pytest.skip(f"make test-tau2: {missing}", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("domain", TAU2_DOMAINS)
def test_a_task_of_each_domain_is_solved_without_us_and_with_us(domain: str) -> None:
    report = evaluate_tau2(tau2_solver, domains=[domain], arms=["without", "default"], limit=2)
    assert [(arm.arm, arm.right, arm.tasks) for arm in report.arms] == [("without", 2, 2), ("default", 2, 2)]
    assert [arm.calls > 0 and arm.fetches for arm in report.arms] == [0, 0]
    assert report.arms[1].tokens < report.arms[0].tokens
    assert set(report.by_kind) == {domain}


class Idle(UserSolver):
    """An agent that does nothing."""

    def _reply(self, *given: Any) -> AIMessage:
        return AIMessage("All is done.")


def test_an_agent_that_does_nothing_solves_nothing_and_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def idle(domain: str, task: Any, side: str) -> Any:
        return Idle(scenario="", stop_words="") if side == "assistant" else tau2_solver(domain, task, side)

    options: Any = {"domains": ["retail"], "arms": ["without"], "run_file": tmp_path / "run.jsonl"}
    (arm,) = evaluate_tau2(idle, limit=1, **options).arms
    assert (arm.right, arm.tasks, arm.calls) == (0, 1, 1)
    again = evaluate_tau2(lambda *given: pytest.fail(f"{given} is done already"), limit=1, **options)
    assert [line["error"] for line in again.wrong] == [None]


def test_a_conversation_without_an_end_is_not_solved() -> None:
    class Talkative(UserSolver):
        def _reply(self, *given: Any) -> AIMessage:
            return AIMessage("And then?")

    (wrong,) = evaluate_tau2(
        lambda *given: Talkative(scenario="", stop_words=""), domains=["retail"], arms=["without"], limit=1
    ).wrong
    assert wrong["error"] == "no end"


def test_an_unknown_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a domain of retail, airline, telecom, found 'banking'"):
        evaluate_tau2(tau2_solver, domains=["banking"])
