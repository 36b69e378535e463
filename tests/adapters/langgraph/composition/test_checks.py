"""The checks find what they are there to find: a middleware that breaks each of them, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware
from tests.adapters.langgraph.composition import checks
from tests.adapters.langgraph.composition.harness import POLICY, Run, converse, names_of

Requests = Callable[[Any], Any]
UNKNOWN = f"$cold.{7:029}"


class Broken(AccpMiddleware):
    """Changes each request behind the projection."""

    def __init__(self, change: Requests) -> None:
        super().__init__(POLICY)
        self.change = change

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return super().wrap_model_call(request, lambda sent: handler(self.change(sent)))


class Rewriting(AccpMiddleware):
    """Writes what it sends into the state."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        last = state["messages"][-1]
        if not isinstance(last, ToolMessage):
            return None
        return {"messages": [last.model_copy(update={"additional_kwargs": {"accp": "seen"}})]}


def map_messages(kind: type[BaseMessage], change: Callable[[Any], Any]) -> Requests:
    """Return what changes each message of a kind in a request; a message for which it returns None is left out."""

    def changed(request: Any) -> Any:
        messages = [change(each) if isinstance(each, kind) else each for each in request.messages]
        return request.override(messages=[each for each in messages if each is not None])

    return changed


def with_text(message: Any, text: str) -> Any:
    return message.model_copy(update={"content": message.text + text})


def without_fetch(request: Any) -> Any:
    named = zip(names_of(request.tools), request.tools, strict=True)
    return request.override(tools=[tool for name, tool in named if name != FETCH_NAME])


def numbered(request: Any) -> Any:
    return map_messages(HumanMessage, lambda each: with_text(each, f" {len(request.messages)}"))(request)


@pytest.fixture(scope="module")
def plain() -> Run:
    return converse(None)


BROKEN: dict[str, tuple[Requests, Callable[[Run, Run], object]]] = {
    "no fetch tool": (without_fetch, lambda run, plain: checks.fetch_is_offered(run)),
    "a text that changes": (numbered, lambda run, plain: checks.prefixes_stay(run)),
    "words of the agent": (
        map_messages(AIMessage, lambda each: with_text(each, "!")),
        lambda run, plain: checks.only_texts_changed(run),
    ),
    "metadata": (
        map_messages(ToolMessage, lambda each: each.model_copy(update={"name": "x"})),
        lambda run, plain: checks.only_texts_changed(run),
    ),
    "a result that is missing": (
        map_messages(ToolMessage, lambda each: None),
        lambda run, plain: checks.provider_rules(run),
    ),
    "a tool less": (
        lambda request: request.override(tools=request.tools[1:]),
        lambda run, plain: checks.same_tools(run, plain),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_prompt_is_found(name: str, plain: Run) -> None:
    change, check = BROKEN[name]
    run = converse(Broken(change))
    with pytest.raises(AssertionError):
        check(run, plain)
    checks.same_state(run, plain)


def test_a_reference_that_does_not_open_is_found() -> None:
    dangling = map_messages(ToolMessage, lambda each: with_text(each, UNKNOWN) if each.name == "crm" else each)
    run = converse(Broken(dangling), curious=True)
    with pytest.raises(AssertionError, match="E5002"):
        checks.opened(run, everything=False)


def test_a_state_that_was_rewritten_is_found(plain: Run) -> None:
    with pytest.raises(AssertionError):
        checks.same_state(converse(Rewriting(POLICY)), plain)
