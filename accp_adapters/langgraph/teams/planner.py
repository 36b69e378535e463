"""A chat model as the planner of a task: asked for steps, checked, asked once more with the reason (ACI 3 and 5.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from accp_adapters.langgraph.runtime import messages_of
from accp_adapters.langgraph.teams.state import begin, check_agents
from accp_adapters.langgraph.turns import as_json
from accp_core.aci import Step, TaskContext, plan_contexts, step
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import read_json

__all__ = ["PLAN_SCHEMA", "ModelPlanner"]

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
        planned = plan_contexts(steps)
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
    return step(
        entry.get("agent", ""),
        entry.get("title", ""),
        items=_texts(entry, "items"),
        after=_texts(entry, "after"),
    )


def _texts(entry: Mapping[str, Any], name: str) -> list[str]:
    found = entry.get(name) or []
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _refusal(f"{name} of step {entry.get('title')!r}: a list of texts", found)
    return texts


def _refusal(expected: str, found: object, code: str = ErrorCode.INVALID_TYPE) -> ProtocolError:
    return ProtocolError(f"expected {expected}, found {found!r:.200}", code=code)
