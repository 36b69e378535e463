"""The chat model that does the tasks by their plans."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import PrivateAttr

from accp_core.references import find_references, reference_to
from accp_core.strict_json import compact_json
from integrations.agent_tasks.chat.mailbox import ToolModel
from integrations.agent_tasks.scripted.plans import PLANS, Asks, Plan
from integrations.agent_tasks.scripted.prompt import MustCall, Prompt
from integrations.agent_tasks.scripted.team_plans import TEAM_PLANS, TURNS, plan_of_request
from integrations.agent_tasks.task import Task

__all__ = ["ScriptedModel"]

_UNKNOWN: Final = "I do not know."
_SUMMARIZE: Final = "<messages>"
"""What stands in LangChain's prompt for a summary."""


class ScriptedModel(ToolModel):
    """Knows how each task is done, and of the world what its prompt shows.

    Where the cells that an answer needs are visible, it answers; else it calls the tools, or sends one query for each
    result, all at once. Of a preview it reads rows and lines, not what no prompt explains: the facts above the rows.
    It shows how far an arm can come with a model that makes no mistakes, not what a model does.
    """

    _plans: dict[str, tuple[Plan, Asks]] = PrivateAttr(default_factory=dict)

    def __init__(self, tasks: Iterable[Task]) -> None:
        """Know the plans of `tasks`.

        Raises:
            ValueError: a task has tools with results of their own, for which there is no plan.
        """
        super().__init__()
        for task in tasks:
            if task.results:
                raise ValueError(f"expected a task of the made world, found {task.name!r}, which no script knows")
            plans = TURNS.get(task.name) or (PLANS.get(task.name) or TEAM_PLANS[task.name],)
            for words, plan in zip(task.turns, plans, strict=True):
                self._plans[words] = plan, task.asks

    def _reply(self, messages: list[BaseMessage], tools: list[Any]) -> AIMessage:
        names = frozenset(tool["function"]["name"] for tool in tools)
        return self._next(Prompt(messages, names))

    def _next(self, prompt: Prompt) -> AIMessage:
        if len(prompt.messages) == 1 and _SUMMARIZE in prompt.messages[0].text:
            return AIMessage(_summary(prompt.messages[0].text))
        if (found := self._plan(prompt)) is None:
            return AIMessage(_UNKNOWN)
        plan, asks = found
        try:
            return AIMessage(f"Answer: {plan(prompt, asks)}")
        except MustCall as must:
            return _calls(must, len(prompt.messages))

    def _plan(self, prompt: Prompt) -> tuple[Plan, Asks] | None:
        """Return the plan of what was asked last, None where nothing is known to be asked."""
        for message in reversed(prompt.messages):
            if isinstance(message, HumanMessage):
                found = self._plans.get(message.text) or plan_of_request(message.text)
                if found:
                    return found
        return None


def _summary(text: str) -> str:
    """Return a summary of a conversation: the answers so far, and the references to what is stored."""
    answers = [line[line.index("Answer: ") :].split("<")[0] for line in text.splitlines() if "Answer: " in line]
    references = [reference_to(key) for key in find_references(text)]
    return "\n".join(["The answers so far:", *dict.fromkeys(answers), *references])


def _calls(must: MustCall, turn: int) -> AIMessage:
    """Return the turn that makes calls, each with an id of its own that is the same in every run."""
    calls = [
        {"name": name, "args": arguments, "id": _id(turn, name, arguments), "type": "tool_call"}
        for name, arguments in must.calls
    ]
    return AIMessage("", tool_calls=list({call["id"]: call for call in calls}.values()))


def _id(turn: int, name: str, arguments: dict[str, Any]) -> str:
    return "call_" + hashlib.sha256(f"{turn} {name} {compact_json(arguments)}".encode()).hexdigest()[:12]
