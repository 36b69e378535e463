"""Whatever a thread's state holds, a prompt is made of it, only its own texts open, and nothing changes it."""

import copy
import json
import logging
from collections.abc import Sequence
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any, Final

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage, messages_from_dict

from accp_adapters.langgraph import AccpMiddleware, Policy, read_results
from accp_adapters.langgraph.conversation import private_session
from accp_adapters.langgraph.grants import expand, find_texts, grants_in, held_texts, keys_handed_over, stored_keys
from accp_adapters.langgraph.node import compressed_message, restore_message
from accp_adapters.langgraph.teams.state import merge_contexts, read_interaction
from accp_adapters.stores import SqliteColdStore
from accp_core.compression import ResultLimits, compress
from accp_core.errors import ProtocolError
from accp_core.references import find_references, is_named, key_of, reference_to
from accp_core.strict_json import read_json
from tests.harness.fuzz.choices import choose
from tests.harness.fuzz.values import value_of
from tests.harness.fuzz.view import count

__all__ = ["ROWS", "TEXT", "check", "check_all", "conversation"]

POLICY: Final = Policy(inline_limit=80, preview_limit=60, counter=lru_cache(4_096)(count))
STORE: Final = SqliteColdStore()
MIDDLEWARE: Final = (AccpMiddleware(POLICY), AccpMiddleware(POLICY, store=STORE))
RUNTIME: Final[Any] = SimpleNamespace(stream_writer=lambda chunk: None, context=None, store=None)
logging.getLogger("langchain_core").setLevel(logging.ERROR)


ROWS: Final = [{"id": n, "name": f"part {n}", "price": n + 0.5, "by": "x y", "left": None} for n in range(30)]
TEXT: Final = json.dumps(ROWS, indent=2)
PRIVATE: Final = ("accp_texts", "accp_session", "accp_stored", "accp_offered", "accp_views")
TEAMS: Final = ("agent_contexts", "aci_progress", "task_context")


@cache
def conversation() -> tuple[Any, ...]:
    """Return messages of every kind, one of which is stored compressed."""
    key = key_of(TEXT)
    call_ids = ("c1", "c2", "c3")
    asked = [{"name": "look_up", "args": {"query": TEXT[:200]}, "id": id, "type": "tool_call"} for id in call_ids]
    results = [ToolMessage(TEXT, name="look_up", tool_call_id=id, id=f"r{id}") for id in call_ids]
    small = compress(TEXT, limits=ResultLimits(inline=80, preview=60), counter=count)
    results[1], _ = compressed_message(results[1], [small])
    results[2], _ = compressed_message(results[2], [compress(TEXT, limits=ResultLimits(inline=None), counter=count)])
    fetch = {"name": "accp_fetch", "args": {"ref": reference_to(key)}, "id": "f1", "type": "tool_call"}
    return (
        HumanMessage("go", id="h1"),
        AIMessage("", tool_calls=asked, id="a1"),
        *results,
        AIMessage([{"type": "text", "text": f"see {reference_to(key)}"}], tool_calls=[fetch], id="a2", name="crm"),
        ToolMessage("id, name\n1, x", name="accp_fetch", tool_call_id="f1", id="rf", status="error"),
        AIMessage("done", id="a3"),
        HumanMessage("and?", id="h2"),
    )


def check(data: bytes) -> None:
    """Check the invariant for one input with one middleware."""
    check_with(data, (choose(data, MIDDLEWARE),))


def check_all(data: bytes) -> None:
    """Check the invariant for one input with each middleware."""
    check_with(data, MIDDLEWARE)


def check_with(data: bytes, middleware: Sequence[AccpMiddleware]) -> None:
    """Check the invariant for one input: the JSON of a state, or bytes that are the values of its private keys."""
    if not data.startswith(b"{"):
        values = value_of(data)
        check_keys(values if isinstance(values, list) else [values], middleware)
        return
    try:
        state = read_json(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return
    if isinstance(state, dict):
        check_teams(state)
        state["messages"] = messages_in(state.get("messages"))
        check_state(state, middleware)


def check_keys(values: list[Any], middleware: Sequence[AccpMiddleware]) -> None:
    """Check that a thread goes on whose private keys have these values, the first also in a message's metadata."""
    check_teams(dict(zip(TEAMS, values, strict=False)))
    check_teams({"aci_progress": {"interaction": values[0] if values else None}})
    messages = copy.deepcopy(list(conversation()))
    for message in messages:
        message.additional_kwargs.update({"accp": {"blocks": values[:1]}} if isinstance(message, ToolMessage) else {})
    check_state({"messages": messages, **dict(zip(PRIVATE, values, strict=False))}, middleware)


def messages_in(value: Any) -> list[BaseMessage]:
    """Return the messages of a state as LangChain reads them; those that it refuses are not in a state."""
    messages = []
    for each in value if isinstance(value, list) else ():
        try:
            messages += messages_from_dict([each])
        except Exception:  # LangChain's own refusals, of any type
            continue
    return messages


def check_state(state: dict[str, Any], tried: Sequence[AccpMiddleware]) -> None:
    """Check all that reads a state."""
    before = copy.deepcopy(state)
    messages: list[AnyMessage] = state["messages"]
    for middleware in tried:
        request = ModelRequest(model=None, messages=messages, state=state, runtime=RUNTIME, tools=[])  # type: ignore[arg-type]  # no model is called
        middleware.before_agent(state, RUNTIME)
        answer = middleware.wrap_model_call(request, lambda sent: answered(sent, messages))
        assert answer is not None and not middleware.stats().projection_failures
    named = {key for message in messages for key in find_references(message.text)}
    for key in {*named, *keys_handed_over(state), *stored_keys(state)}:
        assert all(is_named(key_of(text), [key]) for text in find_texts([key], state).values())
    assert all(key_of(text) == key for key, text in held_texts(state).items())
    assert grants_in(messages, named).keys() == named
    expand(" ".join(named), state)
    assert private_session(state) is None or isinstance(private_session(state), str)
    for message in messages:
        if isinstance(message, ToolMessage):
            check_restored(message)
    assert state == before


def answered(sent: ModelRequest, messages: list[Any]) -> ModelResponse[Any]:
    """Check what the model is sent, and answer."""
    assert len(sent.messages) <= len(messages) + 2
    return ModelResponse(result=[AIMessage("done")])


def check_restored(message: ToolMessage) -> None:
    """Check that a message is restored or refused."""
    try:
        restore_message(message, lambda key: None)
    except ProtocolError as refusal:
        assert refusal.code in {"E1001", "E2001", "E2003"}, refusal


def check_teams(state: dict[str, Any]) -> None:
    """Check that the keys of a master graph are read or refused."""
    for read in (read_interaction, read_results, lambda each: merge_contexts({}, each.get("agent_contexts"))):
        try:
            read(state)
        except ProtocolError as refusal:
            assert refusal.code in {"E1004", "E2003", "E5001"}, refusal
