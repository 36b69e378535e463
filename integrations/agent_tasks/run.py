"""Lets a model do the tasks in each arm, and keeps what came of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain_core.language_models import BaseChatModel

from integrations.agent_tasks.agents import work
from integrations.agent_tasks.answers import is_right
from integrations.agent_tasks.arms import Arm, arm_named, available_arms
from integrations.agent_tasks.catalog import chosen_tasks, make_tasks
from integrations.agent_tasks.chat.mailbox import MalformedLetter
from integrations.agent_tasks.folder_tasks import read_tasks
from integrations.agent_tasks.meter import CallMeter
from integrations.agent_tasks.report import Report
from integrations.agent_tasks.run_file import RunFile, do_all
from integrations.agent_tasks.task import Task
from integrations.agent_tasks.tools import OWN_TOOLS
from integrations.agent_tasks.world import World, make_world

__all__ = ["RUN_KIND", "TaskOptions", "Worker", "evaluate_tasks"]

Worker: TypeAlias = Callable[[Task, BaseChatModel, Arm, World, CallMeter], str]
"""Lets the agents of an arm work on a task in a world of its own, and returns their last answer."""

RUN_KIND: Final = "tasks"
"""What the header of a run file says of its kind."""
_TYPES: Final = {int: "integer", float: "number"}
_ANSWER: Final = re.compile(r"(?mi)^[*_ ]*answer[*_ ]*:[*_ ]*(.+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What a run does."""

    arms: tuple[str, ...] = available_arms()
    """The names of the arms; the first is what the others are compared with."""
    names: tuple[str, ...] = ()
    """The names of the tasks; none: all."""
    seed: int = 0
    """Of the made world."""
    size: float = 1.0
    """Of the made world: 1.0 has lists of 5,000 to 40,000 tokens of JSON."""
    folder: Path | None = None
    """Of tasks over results of one's own, instead of those of the made world."""

    def tasks(self) -> list[Task]:
        """Return the tasks.

        Raises:
            OSError: the folder cannot be read.
            ValueError: there is no such task, arm or size.
        """
        for name in self.arms:
            arm_named(name)
        tasks = make_tasks(self.world()) if self.folder is None else read_tasks(self.folder)
        return chosen_tasks(tasks, self.names)

    def world(self) -> World:
        """Return the world that each task begins with."""
        return make_world(self.seed, self.size)


def evaluate_tasks(
    model: BaseChatModel,
    *,
    options: TaskOptions | None = None,
    model_name: str = "",
    run_file: Path | None = None,
    concurrency: int = 1,
    max_tokens: int | None = None,
    worker: Worker = work,
) -> Report:
    """Let a model do each task in each arm and return the figures.

    Args:
        model: Plays every agent.
        options: What is done; None: all tasks in all arms that are installed.
        model_name: The name of the model in the run file.
        run_file: Keeps what came of each task; a run that was interrupted goes on where it stopped, and another run of
            the same model and world may add arms and tasks.
        concurrency: Tasks at once.
        max_tokens: Tokens that may be taken before no further task is begun; None: no limit.
        worker: Builds the agents and lets them work; LangGraph's without one. `tasks.chat.functions` says what those of
            other frameworks need.

    Raises:
        ValueError: the run file holds another run, or there is no such arm, task or size. What the model raises passes
            through, after the tasks that are done are kept.
    """
    chosen = options or TaskOptions()
    tasks, world = chosen.tasks(), chosen.world()
    made_of = {"seed": chosen.seed, "size": chosen.size} if chosen.folder is None else {"folder": str(chosen.folder)}
    run = RunFile(run_file, {"kind": RUN_KIND, "model": model_name, **made_of})
    jobs = [
        (f"{arm}/{task.name}", partial(_line, worker, model, arm, task, world)) for arm in chosen.arms for task in tasks
    ]
    lines = do_all(run, jobs, concurrency=concurrency, max_tokens=max_tokens)
    return Report.of(lines, asked=len(jobs), model=model_name)


def _line(worker: Worker, model: BaseChatModel, arm: str, task: Task, world: World) -> dict[str, Any]:
    """Do one task in a world of its own and return what the run file keeps of it."""
    own, meter = replace(world, sources=dict(world.sources)), CallMeter(OWN_TOOLS | task.results.keys())
    try:
        answered = worker(task, model, arm_named(arm), own, meter)
        error = _error_of(task, answered, own)
    except MalformedLetter as malformed:
        answered, error = "", str(malformed)
    found = {"expected": task.answer, "answered": answered, "right": error is None, "error": error}
    return {"arm": arm, "task": task.name, "kind": task.kind, **found, **meter.figures}


def _error_of(task: Task, answered: str, world: World) -> str | None:
    """Return None where the last `Answer:` is right and the edits that were asked for are made; else "edit" (they are
    not), "format" (there is no such line) or "other"."""
    if any(line not in world.sources[path].splitlines() for path, line in task.expected_sources.items()):
        return "edit"
    answers = list(_ANSWER.finditer(answered))
    if not answers:
        return "format"
    if task.results:
        return None if _has_words(task, answered, answered[answers[0].start(1) :]) else "other"
    several = isinstance(task.answer, tuple)
    kind = "csv-list-unordered" if several else _TYPES.get(type(task.answer), "string")
    return None if is_right(answers[-1][1].strip(), ",".join(map(str, _listed(task.answer))), kind) else "other"


def _has_words(task: Task, answered: str, last: str) -> bool:
    """Return whether the last words hold all that is right, and what follows `Answer:` nothing that is wrong."""
    holds = all(_has(answered.casefold(), str(each)) for each in _listed(task.answer))
    return holds and not any(_has(last.casefold(), each) for each in task.wrong)


def _has(text: str, words: str) -> bool:
    """Return whether words stand in a text, not as a part of others."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text) is not None


def _listed(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)
