"""The tasks of deepagents' own evals (langchain-ai/deepagents, libs/evals), each arm with the same agent.

The tasks and their checks are imported from a checkout; only how an agent is built differs between the arms.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest.mock import MagicMock

from deepagents import create_deep_agent
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool

from accp_adapters.langgraph import AccpMiddleware
from integrations.agent_tasks.meter import CallMeter

__all__ = ["ARMS", "LISTS", "EvalTask", "load_tasks", "run_task"]

ARMS: Final = ("plain", "offload", "interpreter", "accp")
"""deepagents that keeps large results in the prompt; as it ships; with LangChain's interpreter; with our middleware in
place of its offloading."""
LISTS: Final = ("tool_selection", "tool_usage_relational", "tool_usage_incident_graph", "context_bench")
"""The lists whose tools need no network and whose checks need no model."""
_PROGRAMMED: Final = LISTS[1:]
"""The lists whose tools only the interpreter calls in its arm, as `--repl quickjs` does; the other keeps both ways."""
_BENCH: Final = Path("harbor_adapters", "contextbench", "vendor")
_CALIBRATED: Final = Path("datasets", "context-retrieval-evals", "calibration.json")


@dataclass(frozen=True, slots=True)
class EvalTask:
    """One task: it builds its agent, lets it work, and raises where its check fails."""

    name: str
    """List and name: `context_bench/cb-cloud-1`."""
    do: Callable[[BaseChatModel, str], None]
    """Does it with a model in an arm."""


def load_tasks(checkout: Path, *, lists: tuple[str, ...] = LISTS, each: int = 5) -> list[EvalTask]:
    """Return the first tasks of some lists, in the order of the checkout.

    Args:
        checkout: The folder libs/evals of the repository. It goes first on the import path, for the package `tests`.
        lists: Names of `LISTS`.
        each: Tasks of each list.

    Raises:
        ModuleNotFoundError: the checkout holds no such evals, or another package `tests` is imported already.
    """
    sys.path.insert(0, str(checkout))
    importlib.import_module("tests.evals.utils").t = MagicMock()  # LangSmith's log
    readers = {name: _context_bench if name == LISTS[-1] else _python_evals for name in lists}
    return [task for name, read in readers.items() for task in list(read(checkout, name))[:each]]


def _python_evals(checkout: Path, name: str) -> Iterator[EvalTask]:
    module = importlib.import_module(f"tests.evals.test_{name}")
    tests = [value for key, value in vars(module).items() if key.startswith("test_")]
    for test in sorted(tests, key=lambda each: each.__code__.co_firstlineno):
        yield EvalTask(f"{name}/{test.__name__}", _test_runner(module, test, name))


def _test_runner(module: ModuleType, test: Any, name: str) -> Callable[[BaseChatModel, str], None]:
    """Return what calls a test function of theirs with the fixtures that it asks for."""

    def do(model: BaseChatModel, arm: str) -> None:
        module.create_deep_agent = lambda **options: build_agent(arm, **options)  # type: ignore[attr-defined]
        given: dict[str, Any] = {"model": model}
        given["repl_name"] = "quickjs" if arm == "interpreter" and name in _PROGRAMMED else None
        wanted = inspect.signature(test).parameters
        if "agent" in wanted:
            given["agent"] = module._create_agent(model, given["repl_name"])
        done = test(**{key: given[key] for key in wanted})
        if inspect.isawaitable(done):
            asyncio.run(_await(done))

    return do


async def _await(done: Any) -> None:
    await done


def build_agent(arm: str, *, tools: Any = None, middleware: Any = (), **options: Any) -> Any:
    """Return the deep agent of an arm; everything else is as the task asks."""
    middleware = list(middleware)
    if arm in {"plain", "accp"}:
        middleware.append(FilesystemMiddleware(tool_token_limit_before_evict=None))
    if arm == "interpreter" and tools:
        middleware.append(_interpreter(tools))
    if arm == "accp":
        middleware.append(AccpMiddleware())
    return create_deep_agent(tools=tools, middleware=middleware, **options)


def _interpreter(tools: Iterable[Any]) -> Any:
    from langchain_quickjs import CodeInterpreterMiddleware  # this arm alone needs it

    return CodeInterpreterMiddleware(ptc=list(tools))


def _context_bench(checkout: Path, name: str) -> Iterator[EvalTask]:
    """Yield the calibrated questions of Context-Bench over ten text files, 1.3 MB."""
    records = (checkout / _BENCH / "filesystem_cloud.jsonl").read_text("utf-8").splitlines()
    for key in json.loads((checkout / _CALIBRATED).read_text("utf-8"))["tasks"]:
        record = json.loads(records[int(key.rpartition("-")[2])])
        yield EvalTask(f"{name}/{key}", _question_runner(checkout / _BENCH / "files", record))


def _question_runner(files: Path, record: Mapping[str, Any]) -> Callable[[BaseChatModel, str], None]:
    def do(model: BaseChatModel, arm: str) -> None:
        tools = _file_tools({path.name: path.read_text("utf-8") for path in sorted(files.glob("*.txt"))})
        only = {"middleware": [_interpreter(tools)]} if arm == "interpreter" else {"tools": tools}
        agent = build_agent(arm, model=model, **only)
        text = f"{record['input']}\n\nThe data is in files that only the tools open_files and grep_files read: "
        text += ", ".join(path.name for path in sorted(files.glob("*.txt")))
        text += ". Your last message is the final answer and nothing else."
        found = asyncio.run(agent.ainvoke({"messages": [{"role": "user", "content": text}]}))["messages"][-1].text
        assert _plain(record["ground_truth"]) in _plain(found), f"expected {record['ground_truth']!r}, found {found!r}"

    return do


def _file_tools(texts: Mapping[str, str]) -> list[Any]:
    """Return two tools that Letta's own agent has for these files, those that need no index."""

    @tool
    def open_files(file_name: str) -> str:
        """Return the whole text of a file."""
        return texts.get(file_name) or f"Error: no file {file_name!r}"

    @tool
    def grep_files(file_name: str, pattern: str, before: int = 0, after: int = 0) -> str:
        """Return the lines of a file that match a regular expression, with lines before and after each."""
        lines = texts.get(file_name, "").splitlines()
        hits = [at for at, line in enumerate(lines) if re.search(pattern, line)]
        shown = {n for at in hits for n in range(max(0, at - before), min(len(lines), at + after + 1))}
        return "\n".join(f"{n + 1}:{lines[n]}" for n in sorted(shown)) or "no match"

    return [open_files, grep_files]


def _plain(text: str) -> str:
    """Return the words and numbers of an answer between spaces: `$138,439.16` is ` 138439.16 `, `18 records` ` 18 `."""
    words = re.findall(r"[\w.]*\w", text.lower().replace(",", ""))
    return f" {' '.join(word for word in words if word != 'records')} "


def run_task(task: EvalTask, model: BaseChatModel, arm: str) -> dict[str, Any]:
    """Do a task in an arm and return its line: arm, task, right, why not, seconds, and the figures of `CallMeter`."""
    meter = CallMeter(())
    began = time.monotonic()
    reason = ""
    try:
        task.do(model.model_copy(update={"callbacks": [meter]}), arm)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # pytest's own failure is no Exception
        reason = f"{type(error).__name__}: {error}"[:400]
    seconds = round(time.monotonic() - began, 1)
    return {"arm": arm, "task": task.name, "right": not reason, "reason": reason, "seconds": seconds, **meter.figures}
