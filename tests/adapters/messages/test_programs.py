"""The result of a call that a program made reaches the program as the tool returned it, in every layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from accp_adapters.messages import project_messages
from accp_adapters.policy import Policy
from accp_core.references import key_of, reference_to
from tests.adapters.messages.conversations import POLICIES, ROWS

Result = tuple[bool, str]
"""Whether a program made the call, and what the tool returned."""

PRINTED: Final = json.dumps(ROWS[:30], indent=2)
"""What the program prints, in the message of the model."""
PROGRAM: Final = {"type": "code_execution_20250825", "tool_id": "s1"}
LATER: Final = {"type": "code_execution_20990101", "tool_id": "s1"}
DIRECT: Final = {"type": "direct"}


def anthropic(results: list[Result]) -> list[Any]:
    code = {"type": "server_tool_use", "id": "s1", "name": "code_execution", "input": {"code": PRINTED}}
    made = [
        {
            "type": "tool_use",
            "id": f"t{n}",
            "name": "crm",
            "input": {},
            "caller": [PROGRAM, LATER][n % 2] if own else DIRECT,
        }
        for n, (own, _) in enumerate(results)
    ]
    printed = {"type": "code_execution_result", "stdout": PRINTED, "stderr": "", "return_code": 0, "content": []}
    done = {"type": "code_execution_tool_result", "tool_use_id": "s1", "content": printed}
    answered = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": text} for n, (_, text) in enumerate(results)]
    said = [done, {"type": "text", "text": PRINTED}]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [code, *made]},
        {"role": "user", "content": answered},
        {"role": "assistant", "content": said},
    ]


def responses(results: list[Result]) -> list[Any]:
    program = {"type": "program", "id": "p1", "call_id": "p1", "code": PRINTED, "fingerprint": "f"}
    callers = [{"type": "program", "caller_id": "p1"} if own else DIRECT for own, _ in results]
    made = [
        {"type": "function_call", "call_id": f"t{n}", "name": "crm", "arguments": "{}", "caller": caller}
        for n, caller in enumerate(callers)
    ]
    answered = [
        {"type": "function_call_output", "call_id": f"t{n}", "output": text} for n, (_, text) in enumerate(results)
    ]
    printed = {"type": "program_output", "id": "o1", "call_id": "p1", "result": PRINTED, "status": "completed"}
    return [{"role": "user", "content": "go"}, program, *made, *answered, printed]


def chat(results: list[Result]) -> list[Any]:
    made = [
        {"id": f"t{n}", "type": "function", "function": {"name": "crm", "arguments": "{}"}}
        | {"caller": PROGRAM if own else DIRECT}
        for n, (own, _) in enumerate(results)
    ]
    answered = [{"role": "tool", "tool_call_id": f"t{n}", "content": text} for n, (_, text) in enumerate(results)]
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": made},
        *answered,
        {"role": "assistant", "content": PRINTED},
    ]


WRITERS: Final[dict[str, Callable[[list[Result]], list[Any]]]] = {
    "anthropic": anthropic, "openai-responses": responses, "openai-chat": chat,
}  # fmt: skip


def results_in(messages: list[Any]) -> dict[str, str]:
    """Return call id to the text of its result."""
    blocks = [block for message in messages for block in message.get("content") or () if isinstance(block, dict)]
    found = {}
    for each in (*messages, *blocks):
        if each.get("type") == "tool_result":
            found[each["tool_use_id"]] = each["content"]
        elif each.get("type") == "function_call_output":
            found[each["call_id"]] = each["output"]
        elif each.get("role") == "tool":
            found[each["tool_call_id"]] = each["content"]
    return found


CITED: Final = f"accp_fetch {reference_to(key_of('x'))}"
texts = st.one_of(
    st.builds(
        lambda first, count, indent: json.dumps(ROWS[first : first + count], indent=indent),
        st.integers(0, 30), st.integers(1, 60), st.sampled_from([None, 2]),
    ),
    st.sampled_from([json.dumps("[as above: 3 lines]"), json.dumps({"see": CITED})]),
)  # fmt: skip
batches = st.lists(st.tuples(st.booleans(), texts), min_size=1, max_size=5)


@pytest.mark.parametrize("layout", WRITERS)
@given(results=batches, policy=st.sampled_from(POLICIES))
def test_a_program_gets_what_the_tool_returned(layout: str, results: list[Result], policy: Policy) -> None:
    messages = WRITERS[layout](results)
    shown = project_messages(messages, policy=policy, layout=layout)
    alone = [(own, text if not own else "{}") for own, text in results]
    without = results_in(project_messages(WRITERS[layout](alone), policy=policy, layout=layout).messages)
    for (call_id, text), (own, source) in zip(results_in(shown.messages).items(), results, strict=True):
        if own:
            assert text == source and json.loads(text) == json.loads(source)
        else:  # what the model reads is no shorter because a program read the same
            assert text == without[call_id]
    changed = [new for old, new in zip(messages, shown.messages, strict=True) if new is not old]
    assert PRINTED not in json.dumps(changed)


@pytest.mark.parametrize("layout", WRITERS)
@pytest.mark.parametrize("policy", POLICIES, ids=["default", "small", "lossless", "tight"])
def test_no_marker_names_what_only_a_program_read(layout: str, policy: Policy) -> None:
    rows = "\n".join(json.dumps(row) for row in ROWS)
    shown = results_in(project_messages(WRITERS[layout]([(True, rows), (False, rows)]), policy=policy).messages)
    assert shown["t0"] == rows
    assert "[as above: " not in shown["t1"]
    read = results_in(project_messages(WRITERS[layout]([(False, rows), (False, rows)]), policy=policy).messages)
    assert "[as above: " in read["t1"]


def test_an_output_that_names_a_program_needs_no_call() -> None:
    source = json.dumps(ROWS, indent=2)
    output = {"type": "function_call_output", "call_id": "t0", "output": source}
    by_program = {**output, "caller": {"type": "program", "caller_id": "p1"}}
    assert project_messages([by_program]).messages == [by_program]
    assert project_messages([{**output, "caller": DIRECT}]).messages != [output]


CARRIERS: Final[dict[str, Callable[[list[Any]], AIMessage]]] = {
    "anthropic": lambda made: AIMessage(
        [{"type": "tool_use", "id": c["id"], "name": "crm", "input": {}, "caller": c["caller"]} for c in made],
        tool_calls=bare(made),
    ),
    "v1": lambda made: AIMessage(
        [{**call, "caller": None, "extras": {"caller": call["caller"]}} for call in made], tool_calls=bare(made)
    ),
    "responses": lambda made: AIMessage(
        [{"type": "function_call", "id": f"fc_{c['id']}", "call_id": c["id"], "caller": c["caller"]} for c in made],
        tool_calls=bare(made),
    ),
    "raw": lambda made: AIMessage(
        "",
        additional_kwargs={"tool_calls": [{"id": call["id"], "caller": call["caller"]} for call in made]},
        tool_calls=bare(made),
    ),
}


def bare(made: list[Any]) -> list[Any]:
    return [{key: call[key] for key in ("name", "args", "id", "type")} for call in made]


@pytest.mark.parametrize("carrier", CARRIERS)
@given(results=batches, policy=st.sampled_from(POLICIES))
def test_langchain_messages_say_who_called(carrier: str, results: list[Result], policy: Policy) -> None:
    made = [
        {
            "name": "crm",
            "args": {"q": "x" * 2_000},
            "id": f"t{n}",
            "type": "tool_call",
            "caller": PROGRAM if own else DIRECT,
        }
        for n, (own, _) in enumerate(results)
    ]
    answered = [ToolMessage(text, tool_call_id=f"t{n}") for n, (_, text) in enumerate(results)]
    messages: list[AnyMessage] = [HumanMessage("go"), CARRIERS[carrier](made), *answered]
    shown = project_messages(messages, policy=policy).messages
    for old, new, (own, _) in zip(answered, shown[2:], results, strict=True):
        assert new is old if own else True
    if all(own for own, _ in results):
        assert shown == messages
