"""Lets a model do the tasks in each arm, and keeps what came of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain_core.language_models import BaseChatModel

from accp_adapters.evaluation.reading.grading import Grade, grade
from accp_adapters.evaluation.reading.questions import Question
from accp_adapters.evaluation.run_file import RunFile
from accp_adapters.replay.prices import Budget
from integrations.agent_tasks.agents import work
from integrations.agent_tasks.arms import Arm, arm_named, available_arms
from integrations.agent_tasks.catalog import chosen_tasks, make_tasks
from integrations.agent_tasks.chat.models import MalformedLetter
from integrations.agent_tasks.folder_tasks import read_tasks
from integrations.agent_tasks.meter import Meter
from integrations.agent_tasks.report import Line, TaskReport
from integrations.agent_tasks.task import Task
from integrations.agent_tasks.world import World, make_world

__all__ = ["RUN_KIND", "TaskOptions", "Worker", "evaluate_tasks"]

Worker: TypeAlias = Callable[[Task, BaseChatModel, Arm, World, Meter], str]
"""Lets the agents of an arm work on a task in a world of its own, and returns their last answer."""

RUN_KIND: Final = "tasks"
"""What the header of a run file says of its kind."""
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
    budget: Budget | None = None,
    worker: Worker = work,
) -> TaskReport:
    """Let a model do each task in each arm and return the figures.

    Args:
        model: Plays every agent.
        options: What is done; None: all tasks in all arms that are installed.
        model_name: The name of the model in the run file.
        run_file: Keeps what came of each task; a run that was interrupted goes on where it stopped, and another run of
            the same model and world may add arms and tasks.
        concurrency: Tasks at once.
        budget: What may be taken before no further task is begun; None: no limit.
        worker: Builds the agents and lets them work; LangGraph's without one. `tasks.chat.functions` says what those of
            other frameworks need.

    Raises:
        ValueError: the run file holds another run, or there is no such arm, task or size. What the model raises passes
            through, after the tasks that are done are kept.
    """
    chosen, limits = options or TaskOptions(), budget or Budget()
    tasks, world = chosen.tasks(), chosen.world()
    made_of = {"seed": chosen.seed, "size": chosen.size} if chosen.folder is None else {"folder": str(chosen.folder)}
    run = RunFile(run_file, {"kind": RUN_KIND, "model": model_name, **made_of})
    pairs = [(arm, task) for arm in chosen.arms for task in tasks]

    def do(pair: tuple[str, Task]) -> None:
        arm, task = pair
        if _key(arm, task) not in run.answers and _is_left(limits, list(run.answers.values())):
            run.add(_key(arm, task), _line(worker, model, arm, task, world))

    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        for _ in pool.map(do, pairs):
            pass
    done = [run.answers[_key(arm, task)] for arm, task in pairs if _key(arm, task) in run.answers]
    return TaskReport.of(done, asked=len(pairs))


def _is_left(budget: Budget, lines: Sequence[Line]) -> bool:
    """Return whether another task may be begun after those of some lines."""
    sums = {name: sum(line[name] for line in lines) for name in ("tokens", "output", "cached", "written")}
    return budget.is_left(prompt=sums.pop("tokens"), **sums)


def _key(arm: str, task: Task) -> str:
    return f"{arm}/{task.name}"


def _line(worker: Worker, model: BaseChatModel, arm: str, task: Task, world: World) -> dict[str, Any]:
    """Do one task in a world of its own and return what the run file keeps of it."""
    own, meter = replace(world, sources=dict(world.sources)), Meter(task.results)
    try:
        answered = worker(task, model, arm_named(arm), own, meter)
    except MalformedLetter as error:
        answered, graded = "", Grade(right=False, error=str(error))
    else:
        graded = _grade(task, answered, own)
    found = {"expected": task.answer, "answered": answered, "right": graded.right, "error": graded.error}
    return {"arm": arm, "task": task.name, "kind": task.kind, **found, **meter.figures}


def _grade(task: Task, answered: str, world: World) -> Grade:
    """Return whether the last `Answer:` is right, and the edits that were asked for are made."""
    if any(line not in world.sources[path].splitlines() for path, line in task.expected_sources.items()):
        return Grade(right=False, error="edit")
    if task.results:
        return _grade_words(task, answered)
    answers = _ANSWER.findall(answered)
    question = Question(id=task.name, document=task.name, kind=task.kind, text=task.turns[-1], answer=task.answer)
    return grade(question, answers[-1].strip() if answers else None)


def _grade_words(task: Task, answered: str) -> Grade:
    """Return whether the last words hold all that is right, and what follows `Answer:` nothing that is wrong."""
    match = _ANSWER.search(answered)
    if match is None:
        return Grade(right=False, error="format")
    holds = all(_has(answered.casefold(), str(each)) for each in _listed(task.answer))
    wrong = any(_has(answered[match.start(1) :].casefold(), each) for each in task.wrong)
    return Grade(right=holds and not wrong, error=None if holds and not wrong else "other")


def _has(text: str, words: str) -> bool:
    """Return whether words stand in a text, not as a part of others."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text) is not None


def _listed(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)
