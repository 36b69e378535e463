"""The tasks of LangGraph that the master's node calls: an agent, a verdict, and which result was taken next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from langchain_core.runnables import Runnable
from langgraph.func import task
from langgraph.types import RetryPolicy

from accp_adapters.langgraph.teams.deliveries import ACI_TEXTS_KEY, DELIVERY_KEY
from accp_adapters.langgraph.teams.verifier import Judge
from accp_core.aci import Claim, NotJudged, TaskContext, Verdict

__all__ = ["Tasks", "start_time", "verdict_from_json"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks:
    """The tasks of a run; each call returns a future, whose result the checkpointer keeps."""

    agents: Mapping[str, Callable[[Json], Any]]
    """AgentID to the task that delivers a step to that agent."""
    repeatable: Mapping[str, Callable[[Json], Any]]
    """AgentID to the task that delivers a step that may be run again."""
    verdict: Callable[[Json], Any]
    """The task that asks the verifier."""
    take: Callable[[str], Any]
    """The task that returns what it is given; in a later run of the node, what it was given in the first."""

    def call(self, agent_id: str, sent: Json, *, repeatable: bool) -> Any:
        """Deliver to an agent; the result is {"reply", "texts", "ended"}."""
        return (self.repeatable if repeatable else self.agents)[agent_id](sent)

    def judge(self, claim: Claim | None) -> Any:
        """Ask for the verdict on a claim; the result is {"verdict", "ended"}."""
        return self.verdict(asdict(claim) if claim else {})

    @classmethod
    def of(
        cls,
        agents: Mapping[str, Runnable[Any, Json]],
        repeatable: Mapping[str, Runnable[Any, Json]],
        judge: Judge,
        retry: Sequence[RetryPolicy],
        *,
        awaited: bool,
    ) -> Tasks:
        """Return the tasks of a synchronous run, or of an asynchronous one.

        Args:
            agents: AgentID to isolated node.
            repeatable: The same for steps that may be run again.
            judge: Asks the verifier.
            retry: When LangGraph runs such a step again.
            awaited: Whether the run is asynchronous.
        """
        return cls(
            agents={name: _task(_call(node, awaited=awaited), name) for name, node in agents.items()},
            repeatable={name: _task(_call(node, awaited=awaited), name, retry) for name, node in repeatable.items()},
            verdict=_task(_verdict(judge, awaited=awaited), "verdict"),
            take=_task(_order(awaited=awaited), "next"),
        )


def _task(function: Callable[..., Any], name: str, retry: Sequence[RetryPolicy] = ()) -> Callable[..., Any]:
    as_task: Any = task(name=name, retry_policy=list(retry))
    called: Callable[..., Any] = as_task(function)
    return called


def _call(node: Runnable[Any, Json], *, awaited: bool) -> Callable[[Json], Any]:
    def deliver(sent: Json) -> Json:
        return _result(sent, node.invoke(sent))

    async def adeliver(sent: Json) -> Json:
        return _result(sent, await node.ainvoke(sent))

    return adeliver if awaited else deliver


def _result(sent: Json, update: Json) -> Json:
    reply = update["aci_replies"][sent[DELIVERY_KEY]]
    return {"reply": reply, "texts": update.get(ACI_TEXTS_KEY, {}), "ended": time.time()}


def _verdict(judge: Judge, *, awaited: bool) -> Callable[[Json], Any]:
    def verdict(claim: Json) -> Json:
        return {"verdict": _verdict_to_json(judge.ask(Claim(**claim))), "ended": time.time()}

    async def averdict(claim: Json) -> Json:
        return {"verdict": _verdict_to_json(await judge.aask(Claim(**claim))), "ended": time.time()}

    return averdict if awaited else verdict


def _order(*, awaited: bool) -> Callable[[str], Any]:
    def take(key: str) -> str:
        return key

    async def atake(key: str) -> str:
        return key

    return atake if awaited else take


def _verdict_to_json(verdict: Verdict) -> Any:
    return {"not_judged": verdict.reason} if isinstance(verdict, NotJudged) else verdict


def verdict_from_json(data: Any) -> Verdict:
    """Return the verdict in the result of a task; the interaction refuses what is none."""
    verdict: Verdict = NotJudged(data["not_judged"]) if isinstance(data, dict) and "not_judged" in data else data
    return verdict


def start_time(base: TaskContext) -> float:
    """Return when a task started, in seconds since 1970; now, where a planner did not say."""
    try:
        return datetime.fromisoformat(base.start_time or "").timestamp()
    except ValueError:
        return time.time()
