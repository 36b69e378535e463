"""A chat model as the planner of a task: asked for steps, checked, asked once more with the reason (ACI 3 and 5.3)."""

from __future__ import annotations

import asyncio
import functools
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.errors import GraphBubbleUp

from accp_adapters.langgraph.conversation import as_json, messages_of
from accp_adapters.langgraph.teams.deliveries import is_awaited
from accp_adapters.langgraph.teams.state import begin, check_agents
from accp_core import aci
from accp_core.aci import Claim, NotJudged, Step, TaskContext, Verdict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import read_json

__all__ = ["PLAN_SCHEMA", "AsyncVerifier", "Judge", "ModelPlanner", "ModelVerifier", "plan_node"]


PLAN_SCHEMA: Final[dict[str, Any]] = {
    "title": "plan",
    "description": "The steps of a task, each for one agent.",
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "agent": {"type": "string"},
                    "title": {"type": "string"},
                    "items": {"type": "array", "items": {"type": "string"}},
                    "after": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["agent", "title", "items", "after"],
            },
        }
    },
    "required": ["steps"],
}
"""The JSON schema of a plan: `ModelPlanner(model.with_structured_output(PLAN_SCHEMA))`."""

MAX_ANSWER_CHARS: Final = 100_000
"""Characters of a model's plan."""
_FENCE: Final = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
_PROMPT: Final = """\
Plan a task as steps for these agents:
{agents}

An agent reads its own step and the results of the steps in `after`, nothing else: each item must say all that it needs.
Steps that do not need each other run at the same time. At most {max_steps} steps.

Task: {query}

Answer with JSON only:
{{"steps":[{{"agent":"name of an agent","title":"unique, in a few words","items":["one thing to do"],\
"after":["title of a step whose result it needs"]}}]}}"""
_AGAIN: Final = "This plan cannot be used: {reason}\nAnswer with the whole corrected plan, JSON only."


class ModelPlanner:
    """A planner that asks a chat model: `master_graph(agents, plan=ModelPlanner(model))`.

    The model is sent the last message of a person and the names of the agents. Its plan is checked; one that cannot be
    used is asked for once more, with the reason. It never declares a step repeatable: that is for a person to say.
    """

    def __init__(
        self, model: Runnable[Any, Any], *, agents: Mapping[str, str] | None = None, max_steps: int = 20
    ) -> None:
        """Ask `model`.

        Args:
            model: A chat model, or one with structured output (`PLAN_SCHEMA`): any Runnable from messages to a message
                or to the plan as a JSON value.
            agents: AgentID to what the agent can do, in a sentence; None: the model sees the AgentIDs only.
            max_steps: Steps of a plan, from 1 to 100.

        Raises:
            ValueError: `max_steps` is out of these bounds.
        """
        if not 1 <= max_steps <= 100:
            raise ValueError(f"expected max_steps from 1 to 100, found {max_steps!r}")
        self._model: Final = model
        self._agents: Final = dict(agents or {})
        self._max_steps: Final = max_steps

    def check_agents(self, agents: Collection[str]) -> None:
        """Check that the agents that were described are there (ValueError)."""
        if unknown := sorted(set(self._agents) - set(agents)):
            raise ValueError(f"expected descriptions of agents among {sorted(agents)}, found {unknown}")

    def runnable(self, agents: Collection[str]) -> Runnable[Any, list[Step]]:
        """Return the Runnable from a state with messages to the steps of its plan.

        Its run raises ProtocolError: E1004, the state holds no message of a person; E1004, E2003 or E4001, the second
        plan cannot be used, either.
        """

        def run(state: Any, config: RunnableConfig) -> list[Step]:
            asked = self._question(state, agents)
            answer = self._model.invoke(asked, config)
            try:
                return self._read(answer, agents)
            except ProtocolError as refusal:
                return self._read(self._model.invoke(_again(asked, answer, refusal), config), agents)

        async def arun(state: Any, config: RunnableConfig) -> list[Step]:
            asked = self._question(state, agents)
            answer = await self._model.ainvoke(asked, config)
            try:
                return self._read(answer, agents)
            except ProtocolError as refusal:
                return self._read(await self._model.ainvoke(_again(asked, answer, refusal), config), agents)

        return RunnableLambda(run, arun, name="planner")

    def _question(self, state: Any, agents: Collection[str]) -> list[BaseMessage]:
        asked = [message.text for message in messages_of(state) if isinstance(message, HumanMessage)]
        if not asked:
            raise _refusal("a message of a person in `messages` to plan for", "none")
        names = (f"- {name}: {self._agents[name]}" if name in self._agents else f"- {name}" for name in sorted(agents))
        return [HumanMessage(_PROMPT.format(agents="\n".join(names), max_steps=self._max_steps, query=asked[-1]))]

    def _read(self, answer: Any, agents: Collection[str]) -> list[Step]:
        """Return the steps of an answer, all of which have passed the checks of `begin`."""
        entries = _entries(answer)
        if len(entries) > self._max_steps:
            raise _refusal(f"at most {self._max_steps} steps", len(entries), ErrorCode.BUDGET_EXCEEDED)
        steps = [_step(entry) for entry in entries]
        planned = aci.plan_contexts(steps)
        check_agents(planned.contexts, agents)
        begin(TaskContext(task_id="plan"), planned.contexts)
        return steps


def _again(asked: list[BaseMessage], answer: Any, refusal: ProtocolError) -> list[BaseMessage]:
    said = answer.text if isinstance(answer, BaseMessage) else as_json(_value(answer))
    return [*asked, AIMessage(said[:MAX_ANSWER_CHARS]), HumanMessage(_AGAIN.format(reason=refusal.reason))]


def _entries(answer: Any) -> list[Any]:
    value = _from_text(answer.text) if isinstance(answer, BaseMessage) else _value(answer)
    found = value.get("steps") if isinstance(value, Mapping) else value
    if not isinstance(found, list):
        raise _refusal('{"steps": [...]}', value)
    return found


def _value(answer: Any) -> Any:
    dump: Callable[[], Any] | None = getattr(answer, "model_dump", None)
    return dump() if dump else answer


def _from_text(text: str) -> Any:
    """Return the JSON value in a text: all of it, its one fenced block, or from the first to the last brace."""
    blocks = _FENCE.findall(text)
    source = blocks[0] if len(blocks) == 1 else text[text.find("{") : text.rfind("}") + 1] or text
    if len(source) > MAX_ANSWER_CHARS:
        raise _refusal(f"a plan of at most {MAX_ANSWER_CHARS:,} characters", len(source), ErrorCode.BUDGET_EXCEEDED)
    for candidate in (text, source):
        try:
            return read_json(candidate.strip())
        except ValueError as error:
            reason = str(error)
    raise _refusal(f"a plan in JSON ({reason})", text[:80])


def _step(entry: Any) -> Step:
    if not isinstance(entry, Mapping):
        raise _refusal("a step with agent, title, items and after", entry)
    return aci.step(
        entry.get("agent", ""), entry.get("title", ""), items=_texts(entry, "items"), after=_texts(entry, "after")
    )


def _texts(entry: Mapping[str, Any], name: str) -> list[str]:
    found = entry.get(name) or []
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _refusal(f"{name} of step {entry.get('title')!r}: a list of texts", found)
    return texts


def _refusal(expected: str, found: object, code: str = ErrorCode.INVALID_TYPE) -> ProtocolError:
    return ProtocolError(f"expected {expected}, found {found!r:.200}", code=code)


# The master's plan in each form that `master_graph` takes: steps, contexts, a function, a node, a model.


def plan_node(plan: Any, agents: Collection[str]) -> Any:
    """Return the node "plan" for what `master_graph` was given.

    Raises:
        ProtocolError: E1004, E2003, E4001, E5001, `plan` is a list and no plan for these agents, as `begin`.
        TypeError: `plan` is nothing of this kind.
    """
    if isinstance(plan, ModelPlanner):
        plan.check_agents(agents)
        return _around_runnable(plan.runnable(agents), agents)
    if isinstance(plan, (list, tuple)):
        _begun(plan, {}, agents)
        return lambda state: _begun(plan, state, agents)
    if isinstance(plan, Runnable):
        return _around_runnable(plan, agents)
    if not callable(plan):
        raise TypeError(f"expected steps, a function, a Runnable or a ModelPlanner as plan, found {plan!r}")
    return _around_function(plan, agents)


def _around_runnable(plan: Runnable[Any, Any], agents: Collection[str]) -> Runnable[Any, Any]:
    def run(state: Any, config: RunnableConfig) -> Any:
        return _begun(plan.invoke(state, config), state, agents)

    async def arun(state: Any, config: RunnableConfig) -> Any:
        return _begun(await plan.ainvoke(state, config), state, agents)

    return RunnableLambda(run, arun, name="plan")


# `functools.wraps` keeps the signature, by which LangGraph finds the schema of the state and what else it passes.
def _around_function(plan: Callable[..., Any], agents: Collection[str]) -> Callable[..., Any]:
    @functools.wraps(plan)
    def run(state: Any, *args: Any, **kwargs: Any) -> Any:
        return _begun(plan(state, *args, **kwargs), state, agents)

    @functools.wraps(plan)
    async def arun(state: Any, *args: Any, **kwargs: Any) -> Any:
        return _begun(await plan(state, *args, **kwargs), state, agents)

    return arun if is_awaited(plan) else run


def _begun(planned: Any, state: Any, agents: Collection[str]) -> Any:
    """Return the update that begins what was planned; an update that begins it already stays."""
    if not isinstance(planned, (list, tuple, Generator)):
        return planned
    found = aci.plan_contexts(planned)
    check_agents(found.contexts, agents)
    return begin(_task(state), found.contexts, repeatable=found.repeatable)


def _task(state: Any) -> TaskContext:
    """Return a new task for the last words of a person."""
    asked = [message.text for message in messages_of(state) if isinstance(message, HumanMessage)]
    return TaskContext(task_id=f"task-{secrets.token_hex(6)}", user_query=asked[-1] if asked else "")


# The second phase of evaluation: a verifier of any kind, a chat model among them, and its failures (ACI 4.1, 5.2).

AsyncVerifier: TypeAlias = Callable[[str, str, str], Awaitable[str | None]]
"""A `Verifier` whose call is awaited: subtask, item and abstract to None or feedback."""

_QUESTION: Final = "Does the result show that the step is done? Answer `yes` alone, or what is missing in one sentence."


@dataclass(frozen=True, slots=True)
class Judge:
    """Asks a verifier about claims."""

    verifier: Any
    """A `Verifier` or `AsyncVerifier`; an object may have a method `averify` besides its call."""
    catch: tuple[type[Exception], ...]
    """Exceptions of the verifier that leave an item unverified."""

    @property
    def is_rule(self) -> bool:
        """Whether the verifier is the one that asks nobody."""
        return self.verifier is aci.verify_by_rule

    def check_sync(self) -> None:
        """Raise TypeError where the verifier has to be awaited."""
        if is_awaited(self.verifier):
            raise TypeError("expected `ainvoke` with an asynchronous verifier, found `invoke`")

    def ask(self, claim: Claim) -> Verdict:
        """Return the verdict on a claim."""
        try:
            verdict: Verdict = self.verifier(claim.subtask_name, claim.description, claim.abstract)
        except GraphBubbleUp:  # an interrupt: a person judges
            raise
        except self.catch as error:
            return _not_judged(error)
        return verdict

    async def aask(self, claim: Claim) -> Verdict:
        """`ask`, asynchronously."""
        try:
            verdict: Verdict = await self._answer(claim.subtask_name, claim.description, claim.abstract)
        except GraphBubbleUp:
            raise
        except self.catch as error:
            return _not_judged(error)
        return verdict

    def _answer(self, *claim: str) -> Awaitable[Verdict]:
        asynchronous = self.verifier if is_awaited(self.verifier) else getattr(self.verifier, "averify", None)
        answer: Awaitable[Verdict] = asynchronous(*claim) if asynchronous else asyncio.to_thread(self.verifier, *claim)
        return answer


def _not_judged(error: Exception) -> NotJudged:
    return NotJudged(f"{type(error).__name__}: {error}")


class ModelVerifier:
    """A verifier that asks a chat model about each item: `master_graph(…, verifier=ModelVerifier(model))`.

    The model is sent the subtask, the step and the abstract, nothing else. `yes` alone verifies; words without a yes
    are the feedback for the next attempt; a yes with more words judges nothing (`accp_core.aci.read_verdict`).
    """

    def __init__(self, model: Runnable[Any, BaseMessage]) -> None:
        """Ask `model`: a chat model, or any Runnable from messages to a message."""
        self._model: Final = model

    def __call__(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """Return None for a yes, else the feedback."""
        return aci.read_verdict(self._model.invoke(_question(subtask, item, abstract)).text)

    async def averify(self, subtask: str, item: str, abstract: str, /) -> str | None:
        """`__call__`, asynchronously."""
        return aci.read_verdict((await self._model.ainvoke(_question(subtask, item, abstract))).text)


def _question(subtask: str, item: str, abstract: str) -> list[BaseMessage]:
    return [HumanMessage(f"task {subtask}\nstep {item}\nresult {abstract}\n\n{_QUESTION}")]
