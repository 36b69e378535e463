"""The checker finds what it is there to find: each rule is broken once, and each valid shape passes."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from tests.adapters.langgraph.transcripts import PROVIDERS, TranscriptError, check, violations
from tests.scripted_model import ScriptedModel, call, calls

ASK = HumanMessage("find customers")
TURN = calls(call("crm", "c1", query="x"), call("crm", "c2", query="y"))
FIRST, SECOND = ToolMessage("1", tool_call_id="c1"), ToolMessage("2", tool_call_id="c2")
THINKING: dict[str, Any] = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
REASONING: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}


def thinking(*content: dict[str, Any]) -> AIMessage:
    return AIMessage(content=list(content), tool_calls=[call("crm", "c1", query="x")])


VALID: dict[str, list[BaseMessage]] = {
    "words": [SystemMessage("be kind"), ASK],
    "two calls": [ASK, TURN, FIRST, SECOND],
    "results in another order": [ASK, TURN, SECOND, FIRST],
    "several turns": [ASK, TURN, FIRST, SECOND, AIMessage("both"), HumanMessage("more"), HumanMessage("now")],
    "two agents in a row": [ASK, AIMessage("mine", name="a"), AIMessage("yours", name="b"), HumanMessage("so?")],
    "an empty result": [ASK, calls(call("crm", "c1")), ToolMessage("", tool_call_id="c1")],
    "thinking before a call": [ASK, thinking(THINKING), FIRST],
}


@pytest.mark.parametrize("name", VALID)
def test_what_providers_take_passes(name: str) -> None:
    assert violations(VALID[name]) == []


ALL = {"openai", "responses", "anthropic"}
BROKEN: dict[str, tuple[set[str], list[BaseMessage]]] = {
    "no messages": (ALL, []),
    "a call without a result": (ALL, [ASK, TURN, FIRST]),
    "a result without a call": (ALL, [ASK, FIRST]),
    "a result whose call was cut off": (ALL, [ASK, AIMessage("hm"), FIRST, HumanMessage("so?")]),
    "a call answered twice": (ALL, [ASK, TURN, FIRST, SECOND, FIRST]),
    "words between a call and its result": ({"openai", "anthropic"}, [ASK, TURN, FIRST, HumanMessage("!"), SECOND]),
    "an id used twice": (
        {"responses", "anthropic"},
        [ASK, calls(call("crm", "c1")), FIRST, calls(call("crm", "c1")), FIRST],
    ),
    "an id used twice in one turn": (ALL, [ASK, calls(call("crm", "c1"), call("crm", "c1")), FIRST]),
    "the assistant first": ({"anthropic"}, [AIMessage("hello"), ASK]),
    "the assistant last": ({"anthropic"}, [ASK, AIMessage("hello")]),
    "only a system message": ({"anthropic"}, [SystemMessage("be kind")]),
    "a second system message": ({"anthropic"}, [SystemMessage("a"), ASK, SystemMessage("b"), ASK]),
    "a blank text": ({"anthropic"}, [ASK, AIMessage(" \n"), HumanMessage("so?")]),
    "a blank block": ({"anthropic"}, [HumanMessage([{"type": "text", "text": " "}])]),
    "no content": ({"openai", "responses", "anthropic"}, [HumanMessage([])]),
    "a name with a blank": ({"openai"}, [ASK, AIMessage("hi", name="crm agent"), ASK]),
    "a tool name with a blank": (ALL, [ASK, calls(call("the crm", "c1")), FIRST]),
    "an id that is too long": (
        {"openai", "responses"},
        [ASK, calls(call("crm", "c" * 65)), ToolMessage("1", tool_call_id="c" * 65)],
    ),
    "thinking at the end": ({"anthropic"}, [ASK, AIMessage([THINKING]), HumanMessage("so?")]),
    "thinking behind words": ({"anthropic"}, [ASK, thinking({"type": "text", "text": "so"}, THINKING), FIRST]),
    "thinking without a signature": ({"anthropic"}, [ASK, thinking({**THINKING, "signature": ""}), FIRST]),
    "reasoning that leads to nothing": (
        {"responses"},
        [ASK, AIMessage([REASONING], response_metadata={"model_provider": "openai"}), HumanMessage("so?")],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_a_provider_refuses_is_found(name: str) -> None:
    providers, messages = BROKEN[name]
    found = {line.partition(":")[0] for line in violations(messages)}
    assert providers <= found <= PROVIDERS.keys()
    with pytest.raises(TranscriptError):
        check(messages)


def test_the_scripted_model_refuses_what_a_provider_would() -> None:
    with pytest.raises(TranscriptError, match="anthropic"):
        ScriptedModel(script=["hi"]).invoke([ASK, TURN])
    assert ScriptedModel(script=["hi"], strict=False).invoke([ASK, TURN]).text == "hi"
