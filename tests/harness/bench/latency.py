"""Table 9: the time that `AccpMiddleware` adds to a model call and to a tool call, by messages and by size."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from time import perf_counter, process_time
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from rich.console import Console

from accp_adapters.cli.tables import plain_table
from accp_adapters.langgraph import AccpMiddleware, Policy
from tests.harness.bench.team import customer
from tests.scripted_model import call, calls

__all__ = ["longest_wait", "main", "measure_result", "measure_thread", "thread_of"]

LENGTHS: Final = (50, 100, 200, 400)
"""Messages of a thread."""
SIZES: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
"""Characters of a result."""
_REPEATS: Final = 5
_MANY: Final = 20
"""Repeats of what takes milliseconds."""
_TICK: Final = 0.001
"""Seconds that the watch of the event loop sleeps."""

_MAX_VIEWED: Final = 1_000_000
"""Characters of the largest result that is measured as a view, which no policy with previews makes."""

_Rewrite = Callable[[ModelRequest], object]
_salts: Final = count()
"""Makes the texts of each thread new to the process."""


def rows(size: int, salt: int) -> str:
    """Return about `size` characters of customers as a tool prints them."""
    record = len(json.dumps(customer(1_000))) + 2
    return json.dumps([customer(salt * 1_000 + number) for number in range(max(1, size // record))])


def log_lines(size: int, salt: int) -> str:
    """Return about `size` characters of a log."""
    lines = (
        f"2026-03-{number % 28 + 1:02}T10:{number % 60:02}:07Z INFO run {salt} worker-{number % 7} took step {number}"
        f" of order ord_{number * 7919 % 100_000:05} in {number * 31 % 900} ms"
        for number in range(max(1, size // 90))
    )
    return "\n".join(lines)


RESULTS: Final[dict[str, Callable[[int, int], str]]] = {"records": rows, "log": log_lines}
POLICIES: Final = {"preview": Policy(), "view": Policy.lossless()}


def thread_of(length: int) -> list[AnyMessage]:
    """Return a thread of `length` messages, new to this process: a task, then calls and results in turn."""
    salt = next(_salts)
    messages: list[AnyMessage] = [HumanMessage(f"Task {salt}: look after the orders of this week.", id="m0")]
    for number in range(1, length, 2):
        make = (rows, log_lines)[number // 2 % 2]
        turn = calls(call("look", f"c{number}", page=number))
        turn.id = f"m{number}"
        text = make(1_500, salt * 1_000 + number)
        messages += [turn, ToolMessage(text, name="look", tool_call_id=f"c{number}", id=f"m{number + 1}")]
    return messages[:length]


def thread_with(text: str) -> list[AnyMessage]:
    """Return a thread whose only result is `text`."""
    return [
        HumanMessage("Look after the orders.", id="m0"),
        calls(call("look", "c1")),
        ToolMessage(text, name="look", tool_call_id="c1", id="m2"),
    ]


class InstantModel(BaseChatModel):
    """Answers at once."""

    @property
    def _llm_type(self) -> str:
        return "instant"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Take any tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("Done."))])


def request_of(messages: Sequence[AnyMessage]) -> ModelRequest:
    """Return the request of a model call."""
    # The middleware writes into the stream of the run, of which there is none here.
    runtime: Any = type("Runtime", (), {"stream_writer": staticmethod(lambda chunk: None), "context": None})()
    state: Any = {"messages": list(messages)}
    return ModelRequest(model=InstantModel(), messages=list(messages), tools=[], state=state, runtime=runtime)


def answer(request: ModelRequest) -> ModelResponse[Any]:
    """Answer at once, as the model."""
    return ModelResponse(result=[AIMessage("Done.")])


async def aanswer(request: ModelRequest) -> ModelResponse[Any]:
    """`answer`, asynchronously."""
    return answer(request)


def best(action: Callable[[Any], object], arguments: Iterable[Any]) -> float:
    """Return the seconds of CPU time that `action` takes for the fastest of `arguments`."""
    times = []
    for argument in arguments:
        start = process_time()
        action(argument)
        times.append(process_time() - start)
    return min(times)


def with_middleware(middleware: AccpMiddleware) -> _Rewrite:
    """Return the call of a model that answers at once, behind the middleware."""
    return lambda request: middleware.wrap_model_call(request, answer)


async def longest_wait(middleware: AccpMiddleware, request: ModelRequest) -> float:
    """Return the longest time in seconds for which the event loop was not served while a model call is prepared."""
    ticks = [perf_counter()]

    async def watch() -> None:
        while True:
            await asyncio.sleep(_TICK)
            ticks.append(perf_counter())

    watching = asyncio.create_task(watch())
    await asyncio.sleep(_TICK)
    await middleware.awrap_model_call(request, aanswer)
    watching.cancel()
    ticks.append(perf_counter())
    return max(0.0, *(after - before - _TICK for before, after in pairwise(ticks)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTimes:
    """Seconds of CPU time of one model call of a thread."""

    length: int
    """Messages of the thread."""
    alone: float
    """A run of an agent without the middleware, whose model answers at once."""
    warm_run: float
    """The same run with the middleware, which has seen the thread."""
    warm: float
    """The middleware alone where it has seen the thread."""
    turn: float
    """The middleware alone where it has seen all but the last call and its result."""
    cold: float
    """The middleware alone where it has seen none of the thread."""


def measure_thread(length: int) -> ThreadTimes:
    """Measure one model call of threads of `length` messages."""
    middleware = AccpMiddleware()
    rewrite = with_middleware(middleware)
    cold = best(rewrite, [request_of(thread_of(length)) for _ in range(_REPEATS)])
    messages = thread_of(length + 2 * _MANY)
    rewrite(request_of(messages[:length]))
    turns = [request_of(messages[: length + 2 * number]) for number in range(1, _MANY + 1)]
    seen = [{"messages": messages[:length]}] * _MANY
    turn, warm = best(rewrite, turns), best(rewrite, turns[-1:] * _MANY)
    return ThreadTimes(
        length=length,
        alone=best(create_agent(InstantModel(), []).invoke, seen),
        warm_run=best(create_agent(InstantModel(), [], middleware=[middleware]).invoke, seen),
        warm=warm,
        turn=turn,
        cold=cold,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTimes:
    """Seconds of one model call after one result."""

    kind: str
    """What the result holds."""
    form: str
    """What the policy makes of a large one: a view or a preview."""
    size: int
    """Characters of the result."""
    cold: float
    """CPU time of the middleware alone."""
    wait: float
    """The longest time, by the clock on the wall, for which the event loop was not served."""

    @property
    def per_megabyte(self) -> float:
        """CPU seconds for each million characters."""
        return self.cold * 1_000_000 / self.size


def measure_result(kind: str, form: str, size: int) -> ResultTimes:
    """Measure one model call after one result of `size` characters that the process has not seen."""
    middleware = AccpMiddleware(POLICIES[form])
    texts = (RESULTS[kind](size, next(_salts)) for _ in range(2 * _REPEATS))
    requests = [request_of(thread_with(text)) for text in texts]
    cold = best(with_middleware(middleware), requests[:_REPEATS])
    waits = [asyncio.run(longest_wait(middleware, request)) for request in requests[_REPEATS:]]
    return ResultTimes(kind=kind, form=form, size=size, cold=cold, wait=min(waits))


class CallingModel(InstantModel):
    """Calls the tool once, then answers; at once."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        if isinstance(messages[-1], HumanMessage):
            return ChatResult(generations=[ChatGeneration(message=calls(call("look", "c1")))])
        return super()._generate(messages)


def measure_tool_call(kind: str, size: int) -> tuple[float, float]:
    """Return the seconds of CPU time of a run with one call of a tool, without the middleware and with it.

    The tool returns `size` characters that the process has not seen; the run has two model calls.
    """

    def run(agent: Any) -> Callable[[object], object]:
        return lambda task: agent.invoke({"messages": [HumanMessage("Look after the orders.")]})

    def look() -> str:
        """Return the orders."""
        return next(texts)

    times = []
    for middleware in ([], [AccpMiddleware()]):
        texts = iter([RESULTS[kind](size, next(_salts)) for _ in range(_REPEATS)])
        times.append(best(run(create_agent(CallingModel(), [look], middleware=middleware)), range(_REPEATS)))
    return times[0], times[1]


def main(data: object, console: Console) -> None:
    """Print the tables; they need no data."""
    measure_result("records", "preview", SIZES[2])  # the first count loads the vocabulary
    columns = ("messages", "run alone, ms", "with it", "ratio", "seen, ms", "new turn, ms", "unseen, ms")
    title = "9. CPU time of a model call, the middleware has seen the thread, all but a turn, none of it"
    console.print(plain_table(title, columns, [_thread_line(measure_thread(length)) for length in LENGTHS]))
    lines = [
        _result_line(measure_result(kind, form, size))
        for kind in RESULTS
        for form in POLICIES
        for size in SIZES
        if form == "preview" or size <= _MAX_VIEWED
    ]
    heads = ("result", "becomes a", "characters", "CPU, ms", "s per 1,000,000", "loop waits, ms")
    console.print(plain_table("   CPU time of a model call after one new result", heads, lines))
    runs = [_tool_line(kind, size) for kind in RESULTS for size in SIZES]
    heads = ("result", "characters", "run alone, ms", "with it", "more, ms")
    console.print(plain_table("   CPU time of a run with one call of a tool", heads, runs), "")


def _tool_line(kind: str, size: int) -> tuple[str, ...]:
    alone, with_it = (1_000 * seconds for seconds in measure_tool_call(kind, size))
    return kind, f"{size:,}", f"{alone:,.1f}", f"{with_it:,.1f}", f"{with_it - alone:,.1f}"


def _thread_line(times: ThreadTimes) -> tuple[str, ...]:
    milliseconds = [f"{1_000 * seconds:.2f}" for seconds in (times.alone, times.warm_run, times.warm, times.turn)]
    alone, with_it, *rest = milliseconds
    ratio = f"{times.warm_run / times.alone:.2f}"
    return str(times.length), alone, with_it, ratio, *rest, f"{1_000 * times.cold:.0f}"


def _result_line(times: ResultTimes) -> tuple[str, ...]:
    form = times.form if times.size >= SIZES[2] else "view"
    numbers = f"{1_000 * times.cold:,.1f}", f"{times.per_megabyte:.2f}", f"{1_000 * times.wait:.1f}"
    return times.kind, form, f"{times.size:,}", *numbers
