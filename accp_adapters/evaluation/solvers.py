"""Players without weights that know the way to an answer and read only their prompt: they prove a harness.

What they come to says what a form or an arm allows, not what a model makes of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import PrivateAttr

from accp_adapters.evaluation.chat_models import ToolModel
from accp_adapters.evaluation.models import Answered
from accp_adapters.evaluation.reading import JSON_FORM, Document, prompt_parts
from accp_core.errors import DecodeError
from accp_core.ports import TokenCounter
from accp_core.references import find_references, reference_to
from accp_core.strict_json import compact_json
from accp_core.view import read

__all__ = ["DocumentSolver", "TaskSolver", "UserSolver", "tau2_solver"]


_FILE: Final = re.compile(r"/large_tool_results/[^\s'\"`]+")
_CALLED: Final = "Please use "
"""What a solver of a task says to the user that is to make a call, before the call as JSON."""


class DocumentSolver:
    """Answers where the text in its prompt is one of a document, or a view that reads as the document's value."""

    def __init__(self, documents: Iterable[Document], *, counter: TokenCounter) -> None:
        """Know the answers to all questions about `documents`."""
        self._counter = counter
        self._answers: dict[str, dict[str, str]] = {}
        for document in documents:
            answers = {question.text: question.answer for question in document.questions}
            for text in (*document.texts.values(), compact_json(read(document.texts[JSON_FORM]))):
                self._answers[text] = answers

    def __call__(self, prompt: str) -> Answered:
        """Answer a prompt of `make_prompt`."""
        text, question = prompt_parts(prompt)
        answer = (self._answers.get(text) or self._answers.get(_value_of(text), {})).get(question, "unknown")
        return Answered(text=answer, tokens_in=self._counter(prompt), tokens_out=self._counter(answer))


def _value_of(view: str) -> str:
    """Return the compact JSON of the value that a view shows, "" where it is none."""
    try:
        return compact_json(read(view))
    except DecodeError:
        return ""


class TaskSolver(ToolModel):
    """Plays the agent of a task whose actions it knows: it calls a tool when its prompt shows what the call needs.

    What a result on the way has said, and is not in the prompt, it reads where the arm has put it (`accp_fetch`, the
    files of deepagents); where it is nowhere, it makes the call again that said it, and gives up when that fails, too.
    """

    _actions: list[Any] = PrivateAttr()
    _results: list[str] = PrivateAttr()
    _words: str = PrivateAttr()
    _at: int = PrivateAttr(default=0)
    _tried: set[str] = PrivateAttr(default_factory=set)

    def __init__(self, actions: Sequence[Any], results: Sequence[str], words: str) -> None:
        """Know what is called by whom (`requestor`), what each call returns, and the last words."""
        super().__init__()
        self._actions, self._results, self._words = list(actions), list(results), words

    def _reply(self, messages: list[BaseMessage], tools: list[Any]) -> AIMessage:
        prompt = "\n".join(map(_all_text, messages))
        if self._at == len(self._actions):
            return AIMessage(self._words)
        action = self._actions[self._at]
        missing = [value for value in _strings(action.arguments) if value not in prompt and self._said(value)]
        if missing and (calls := self._look_for(missing[0], prompt, {tool["function"]["name"] for tool in tools})):
            return _calling(calls, f"{self._at}_{len(self._tried)}")
        if missing:
            return AIMessage(f"I cannot see {missing[0]}.")
        self._at += 1
        if action.requestor == "user":
            return AIMessage(_CALLED + compact_json({"name": action.name, "arguments": action.arguments}))
        return _calling([(action.name, action.arguments)], str(self._at))

    def _said(self, value: str) -> bool:
        return any(value in result for result in self._results[: self._at])

    def _look_for(self, value: str, prompt: str, tools: set[str]) -> list[tuple[str, dict[str, Any]]]:
        """Return the calls that may show a value and were not made for it."""
        calls: list[tuple[str, dict[str, Any]]] = []
        if "accp_fetch" in tools:
            calls = [("accp_fetch", {"ref": reference_to(key), "query": value}) for key in find_references(prompt)]
        if "grep" in tools:
            calls += [
                ("grep", {"pattern": value, "path": path, "output_mode": "content"})
                for path in dict.fromkeys(_FILE.findall(prompt))
            ]
        source = next(number for number, result in enumerate(self._results) if value in result)
        for found in (calls, [(self._actions[source].name, self._actions[source].arguments)]):
            new = [call for call in found if compact_json([value, *call]) not in self._tried]
            self._tried |= {compact_json([value, *call]) for call in new}
            if new:
                return new
        return []


class UserSolver(ToolModel):
    """Plays the user of a task: says all that it knows, does what it is asked to do, and ends when nothing is asked."""

    scenario: str
    """What the user knows and wants."""
    stop_words: str
    """What ends the conversation."""

    def _reply(self, messages: list[BaseMessage], tools: list[Any]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            return AIMessage("Done.")
        if last.text.startswith(_CALLED):
            call = json.loads(last.text.removeprefix(_CALLED))
            return _calling([(call["name"], call["arguments"])], str(len(messages)))
        first = sum(isinstance(each, HumanMessage) for each in messages) == 1
        return AIMessage(self.scenario if first else self.stop_words)


def tau2_solver(domain: str, task: Any, side: str) -> BaseChatModel:
    """Return the solver of a side of a task of tau2-bench (a `Player`)."""
    from tau2.data_model.message import ToolCall

    from accp_adapters.evaluation.tau2 import new_environment

    if side == "user":
        return UserSolver(scenario=str(task.user_scenario), stop_words="###STOP###")
    environment, criteria = new_environment(domain, task), task.evaluation_criteria
    actions = criteria.actions or []
    results = [
        str(environment.get_response(ToolCall(**action.model_dump(include={"name", "arguments", "requestor"}))).content)
        for action in actions
    ]
    return TaskSolver(actions, results, " ".join(["All is done.", *(criteria.communicate_info or ())]))


def _calling(calls: Sequence[tuple[str, dict[str, Any]]], key: str) -> AIMessage:
    made = [
        {"name": name, "args": arguments, "id": f"call_{key}_{number}", "type": "tool_call"}
        for number, (name, arguments) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


def _all_text(message: BaseMessage) -> str:
    """Return the text of a message, and of a view the value that it shows."""
    return f"{message.text}\n{_value_of(message.text)}" if isinstance(message, ToolMessage) else message.text


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
