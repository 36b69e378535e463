"""One conversation of three turns with a real agent: what each model call was sent, and the state that is left.

`converse` runs the same script with and without `AccpMiddleware`. Recorders directly outside and inside of it hold what
it was given and what it passed on. With `curious=True` the model opens each reference that it sees, once in each turn
of the user: what was cited before something was removed is opened again after it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_core.references import find_references, reference_to
from tests.adapters.langgraph.composition import sources
from tests.scripted_model import call

__all__ = [
    "PLAN", "POLICY", "TURNS", "Model", "Passed", "Prompt", "Run", "Script", "converse", "keys_in", "look", "names_of",
    "thread",
]  # fmt: skip

POLICY: Final = Policy(inline_limit=300, preview_limit=200, fetch_limit=500)
"""Small limits: short sources show everything that long ones would."""
_NUMBERS: Final = itertools.count()
"""Ids of calls are given once, whatever was removed from a conversation."""
TURNS: Final = ("find the customers", "look again", "and the rest")


def thread(name: str) -> dict[str, Any]:
    """Return the configuration of a run in thread `name`."""
    return {"configurable": {"thread_id": name}}


def _turn(number: int, *tools: str, content: Any = "") -> AIMessage:
    asked = [call(name, f"call_{number}_{at}", query=f"{name} {number}") for at, name in enumerate(tools)]
    return AIMessage(content=content, tool_calls=asked, id=f"ai-{number}")


_THINKING: Final[list[dict[str, Any]]] = [
    {"type": "thinking", "thinking": "the report next", "signature": "c2lnbmVk"},
    {"type": "text", "text": "I read the report."},
]
PLAN: Final[tuple[AIMessage, ...]] = (
    _turn(1, "crm"),
    _turn(2, "logs", "prose"),
    AIMessage(content="crm-0000 was won.", id="ai-3"),
    _turn(4, "crm", content="Once more."),
    _turn(5, "fails"),
    _turn(6, "picture", content=_THINKING),
    AIMessage(content="It is as it was.", id="ai-7"),
    _turn(8, "mixed", "blob"),
    _turn(9, "logs"),
    AIMessage(content="That is all.", id="ai-10"),
)
"""What the model says, whatever it is sent. Each turn of the user ends with a message without calls."""


@dataclass(frozen=True)
class Prompt:
    """What one model call was sent."""

    messages: list[BaseMessage]
    tools: list[str]


# A traced model is shown by `repr`, and a script holds all prompts.
@dataclass(repr=False)
class Script:
    """The plan and how far it is: models that stand for each other (fallbacks) share one."""

    steps: Sequence[AIMessage | Callable[[Sequence[BaseMessage]], AIMessage]] = PLAN
    curious: bool = False
    prompts: list[Prompt] = field(default_factory=list)
    at: int = 0
    known: set[tuple[int, str]] = field(default_factory=set)
    """The references that were opened: the turn of the user, and the key."""
    asked: dict[str, str] = field(default_factory=dict)
    """The key of each fetch call, by the call's id."""

    def answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """Return the next step, or the calls that open what `messages` refer to."""
        turn = sum(isinstance(step, AIMessage) and not step.tool_calls for step in self.steps[: self.at])
        new = [key for key in keys_in(messages) if (turn, key) not in self.known]
        if self.curious and new:
            self.known |= {(turn, key) for key in new}
            looked = look(messages, new)
            self.asked |= {str(each["id"]): key for each, key in zip(looked.tool_calls, new, strict=True)}
            return looked
        self.at += 1
        step = self.steps[self.at - 1]
        return step(messages) if callable(step) else step.model_copy(deep=True)


def keys_in(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the keys that the texts of `messages` refer to, each once."""
    return list(dict.fromkeys(key for message in messages for key in find_references(message.text)))


def look(messages: Sequence[BaseMessage], keys: Sequence[str] | None = None) -> AIMessage:
    """Return calls of the fetch tool that open `keys`, or all to which `messages` refer; a step of a script."""
    wanted = keys_in(messages) if keys is None else keys
    opened = [call(FETCH_NAME, f"fetch_{next(_NUMBERS)}", ref=reference_to(key)) for key in wanted]
    return AIMessage(content="", tool_calls=opened)


class Model(BaseChatModel):
    """Answers by a script, which records the prompts."""

    script: Any
    bound: list[str] = []  # noqa: RUF012  (a field of pydantic, which copies it)
    falters: bool = False
    """Whether it raises at each call, after it was recorded."""

    @property
    def _llm_type(self) -> str:
        return "composition"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Model:
        """Return the model with the names of the tools."""
        return self.model_copy(update={"bound": names_of(tools)})

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.script.prompts.append(Prompt([message.model_copy(deep=True) for message in messages], self.bound))
        if self.falters:
            raise ConnectionError("the model is overloaded")
        return ChatResult(generations=[ChatGeneration(message=self.script.answer(messages))])


def names_of(tools: Sequence[Any]) -> list[str]:
    """Return the names of tools, whether they are objects or schemas."""
    return [tool.get("name") or tool["function"]["name"] if isinstance(tool, dict) else tool.name for tool in tools]


class Passed(AgentMiddleware[Any, Any, Any]):
    """Records the messages and tools that pass this place of the list of middleware."""

    def __init__(self, place: str) -> None:
        """Record at `place`, which is part of the name: names are unique in an agent."""
        super().__init__()
        self.place: Final = place
        self.requests: Final[list[Prompt]] = []

    @property
    def name(self) -> str:
        """The name of the middleware."""
        return f"Passed({self.place})"

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Record and pass on."""
        self.requests.append(Prompt(list(request.messages), names_of(request.tools)))
        return handler(request)

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """Record and pass on."""
        self.requests.append(Prompt(list(request.messages), names_of(request.tools)))
        return await handler(request)


@dataclass(frozen=True)
class Run:
    """A conversation as it went."""

    prompts: list[Prompt]
    """What each model call was sent."""
    given: list[Prompt]
    """What `AccpMiddleware` was given at each model call; empty without it."""
    passed: list[Prompt]
    """What it passed on at each model call."""
    asked: dict[str, str]
    """The key of each fetch call, by the call's id."""
    state: dict[str, Any]
    """What the last turn returned."""


Beside = Callable[[Script], tuple[list[AgentMiddleware[Any, Any, Any]], dict[str, Any]]]
"""Makes middleware for one run, and says how many calls of `logs` fail and whether the model does."""


def converse(
    accp: AccpMiddleware | None,
    beside: Beside | None = None,
    *,
    above: bool = True,
    asynchronous: bool = False,
    curious: bool = False,
) -> Run:
    """Return the conversation of `TURNS` with the agent that says `PLAN`.

    Args:
        accp: The middleware; None: the same agent without it.
        beside: Makes the middleware that stands above it or below.
        above: Whether that one is the outer one.
        asynchronous: Whether the agent runs asynchronously.
        curious: Whether the model opens each reference that it is shown.
    """
    script = Script(curious=curious)
    others, options = beside(script) if beside else ([], {})
    outer, inner = Passed("given"), Passed("passed")
    ours = [outer, accp, inner] if accp else []
    graph = create_agent(
        Model(script=script, falters=options.get("falters", False)),
        sources.tools(failures=options.get("failures", 0)),
        system_prompt="Be brief.",
        middleware=[*others, *ours] if above else [*ours, *others],
        checkpointer=InMemorySaver(),
    )
    state = asyncio.run(_aturns(graph)) if asynchronous else _turns(graph)
    return Run(script.prompts, outer.requests, inner.requests, script.asked, state)


def _approve(state: dict[str, Any]) -> Any:
    (question,) = state["__interrupt__"]
    return Command(resume={"decisions": [{"type": "approve"}] * len(question.value["action_requests"])})


def _turns(graph: Any) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for number, words in enumerate(TURNS):
        state = graph.invoke({"messages": [HumanMessage(words, id=f"human-{number}")]}, thread("t"))
        while "__interrupt__" in state:
            state = graph.invoke(_approve(state), thread("t"))
    return state


async def _aturns(graph: Any) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for number, words in enumerate(TURNS):
        state = await graph.ainvoke({"messages": [HumanMessage(words, id=f"human-{number}")]}, thread("t"))
        while "__interrupt__" in state:
            state = await graph.ainvoke(_approve(state), thread("t"))
    return state
