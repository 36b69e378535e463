"""Streams that break off, and two in one response: both are named (docs/replay.md, "What it reads")."""

import json
from typing import Any

import pytest

from accp_adapters.replay import Findings, parse_runs
from accp_adapters.replay.formats.streams.joining import join_response


def chunk(index: int = 0, content: str = "a", finish: str | None = None, key: str = "c1") -> dict[str, Any]:
    choice = {"index": index, "delta": {"role": "assistant", "content": content}, "finish_reason": finish}
    return {"id": key, "object": "chat.completion.chunk", "choices": [choice]}


def sse(*events: Any) -> str:
    return "".join(f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n" for each in events)


def block(text: str = "a", index: int = 0) -> list[dict[str, Any]]:
    start = {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
    return [start, {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}]


def tool(written: str) -> list[dict[str, Any]]:
    asked = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": written}
    return [
        {"type": "content_block_start", "index": 1, "content_block": asked},
        {"type": "content_block_delta", "index": 1, "delta": delta},
    ]


START: dict[str, Any] = {
    "type": "message_start",
    "message": {"role": "assistant", "type": "message", "content": []},
}
STOP = {"type": "message_stop"}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}]}
CONVERSE = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "a"}}},
]
CREATED = {"type": "response.created", "response": {}}
COMPLETED = {"type": "response.completed", "response": {"object": "response", "output": ["a"]}}


def joined(recorded: Any) -> tuple[str, list[str]]:
    """Return the response that a stream comes to, as JSON, and what is not understood of it."""
    findings = Findings()
    whole = json.dumps(join_response(recorded, findings))
    return whole, [f"{each.noun} {each.detail}" for each in findings.not_understood()]


@pytest.mark.parametrize(
    ("recorded", "kind"),
    [
        (sse(chunk()), "OpenAI chat"),
        ([chunk()], "OpenAI chat"),
        (sse(chunk(), chunk(1), chunk(finish="stop"), "[DONE]"), "OpenAI chat"),
        (sse(START, *block()), "Anthropic"),
        ([START, *block()], "Anthropic"),
        ([GEMINI], "Gemini"),
        (CONVERSE, "Bedrock Converse"),
    ],
)
def test_a_stream_that_breaks_off_is_named_and_what_it_has_is_kept(recorded: Any, kind: str) -> None:
    whole, named = joined(recorded)
    assert named == [f"stream of {kind} that breaks off; what it has is counted"]
    assert '"a"' in whole


@pytest.mark.parametrize(
    "recorded",
    [
        sse(chunk(), "[DONE]"),
        sse(chunk(), chunk(finish="stop")),
        sse(chunk(), chunk(key="c2"), chunk(finish="length", key="c3"), {**chunk(key="c4"), "choices": []}, "[DONE]"),
        sse(chunk(), chunk(1), chunk(finish="stop"), chunk(1, finish="stop"), "[DONE]"),
        [START, *block(), STOP],
        [{"candidates": [{**GEMINI["candidates"][0], "finishReason": "STOP"}], "responseId": "r"}],
        [{**GEMINI, "responseId": "r"}, {"candidates": [{"finish_reason": "STOP"}], "responseId": "r"}],
        [*CONVERSE, {"messageStop": {"stopReason": "end_turn"}}],
        [CREATED, COMPLETED],
    ],
)
def test_a_stream_that_ends_is_not_named(recorded: Any) -> None:
    assert joined(recorded)[1] == []


def test_an_error_in_a_stream_is_named() -> None:
    error = {"error": {"message": "boom"}}
    named = joined(sse(chunk(), error))[1]
    assert named[0] == "error within a stream of OpenAI chat"
    assert named[1].startswith("stream of OpenAI chat that breaks off")
    assert joined([START, *block(), {"type": "error", **error}, STOP])[1] == ["error within a stream of Anthropic"]


def test_arguments_that_break_off_are_named_and_kept() -> None:
    whole, named = joined([START, *tool('{"a":'), STOP])
    assert named == ["tool call whose arguments break off in a stream"]
    assert json.loads(whole)["content"][0]["input"] == '{"a":'


def asked(written: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "c", "name": "f", "arguments": written}


def chat_call(finish: str, **delta: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def ended(kind: str, **response: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"object": "response", "status": kind, "output": [], **response}}


CUT = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":'}}


@pytest.mark.parametrize(
    "recorded",
    [
        [chat_call("tool_calls", tool_calls=[CUT])],
        [chat_call("length", tool_calls=[CUT])],
        [chat_call("function_call", function_call=CUT["function"])],
        [CREATED, ended("completed", output=["x", None, asked('{"a":')])],
        [CREATED, {"type": "response.output_item.done", "item": asked('{"a":')}, ended("completed")],
    ],
)
def test_arguments_of_openai_that_break_off_are_named_and_kept(recorded: Any) -> None:
    whole, named = joined(recorded)
    assert named == ["tool call whose arguments break off in a stream"]
    assert json.dumps('{"a":') in whole


@pytest.mark.parametrize(
    "calls", [[CUT | {"function": {"name": "f", "arguments": "{}"}}], [{"id": "c", "custom": 1}], 7]
)
def test_arguments_of_openai_that_are_whole_are_not_named(calls: Any) -> None:
    assert joined([chat_call("tool_calls", tool_calls=calls)])[1] == []


@pytest.mark.parametrize(
    "end",
    [
        ended("failed", error={"code": "server_error", "message": "x"}),
        ended("failed"),
        ended("completed", error={"code": "server_error"}),
    ],
)
def test_a_response_of_openai_that_failed_is_named_and_its_finished_items_are_kept(end: Any) -> None:
    item = {"type": "response.output_item.done", "item": asked("{}")}
    whole, named = joined([CREATED, item, end])
    assert named == ["error within a stream of OpenAI Responses"]
    assert json.loads(whole)["output"] == [asked("{}")]


def test_the_error_event_of_openai_responses_is_named() -> None:
    named = joined([CREATED, {"type": "error", "code": "server_error", "message": "x"}])[1]
    assert named[0] == "error within a stream of OpenAI Responses"
    assert named[1].startswith("stream of OpenAI Responses that breaks off")


@pytest.mark.parametrize("details", [{"reason": "max_output_tokens"}, None])
def test_a_response_of_openai_that_ended_early_is_named_and_counted(details: Any) -> None:
    findings = Findings()
    whole = join_response([CREATED, ended("incomplete", output=[asked("{}")], incomplete_details=details)], findings)
    assert whole["output"] == [asked("{}")]
    (finding,) = findings.left_out()
    reason = details and details["reason"]
    assert finding.detail == f"of OpenAI that ended early ({reason!r}); what it has is counted"
    assert findings.not_understood() == []


@pytest.mark.parametrize(
    ("recorded", "kind"),
    [
        (sse(chunk(finish="stop"), chunk(content="second", finish="stop", key="c2")), "OpenAI chat"),
        (sse(chunk(), "[DONE]", chunk(content="second", finish="stop")), "OpenAI chat"),
        ([START, *block(), STOP, START, *block("second"), STOP], "Anthropic"),
        (
            [
                {"candidates": [{**GEMINI["candidates"][0], "finishReason": "STOP"}], "responseId": key, "second": key}
                for key in ("r1", "second")
            ],
            "Gemini",
        ),
        ([*CONVERSE, {"messageStop": {}}, *CONVERSE, {"messageStop": {}}], "Bedrock Converse"),
        ([CREATED, COMPLETED, CREATED, {**COMPLETED, "response": {"output": ["second"]}}], "OpenAI Responses"),
    ],
)
def test_a_second_stream_is_named_and_not_glued_to_the_first(recorded: Any, kind: str) -> None:
    whole, named = joined(recorded)
    assert named == [f"stream of {kind} after another one in a response"]
    assert whole.count('"a"') == 1
    assert "second" not in whole


def test_a_block_that_begins_again_is_named_and_stays_apart() -> None:
    whole, named = joined([START, *block("a"), *block("b"), STOP])
    assert named == ["block that an Anthropic stream begins again; both are counted"]
    assert [each["text"] for each in json.loads(whole)["content"]] == ["a", "b"]


def completion(key: str, *deltas: dict[str, Any]) -> list[Any]:
    """Return the chunks of one completion as the SDK of OpenAI reads and writes them."""
    openai = pytest.importorskip("openai.types.chat")
    reasons = [None] * (len(deltas) - 1) + ["stop"]
    return [
        openai.ChatCompletionChunk.model_validate(
            {
                "id": key,
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            }
        ).model_dump(mode="json", exclude_unset=True)
        for delta, reason in zip(deltas, reasons, strict=True)
    ]


@pytest.mark.parametrize("done", [[], ["[DONE]"]])
@pytest.mark.parametrize("order", [[0, 1] * 3, [0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0], [0, 1, 0, 1, 1, 0]])
def test_chunks_of_two_completions_that_are_mixed_are_told_apart_by_their_ids(
    order: list[int], done: list[str]
) -> None:
    streams = [
        iter(completion("chatcmpl-a", {"role": "assistant", "content": "Hel"}, {"content": "lo"}, {})),
        iter(completion("chatcmpl-b", {"role": "assistant", "content": "Bon"}, {"content": "jour"}, {})),
    ]
    mixed: list[Any] = []
    for at, number in enumerate(order):
        mixed += [json.dumps(next(streams[number])), *(done if number not in order[at + 1 :] else [])]
    findings = Findings()
    record = {"request": {"model": "m", "messages": [{"role": "user", "content": "go"}]}, "response": mixed}
    (run,) = parse_runs(json.dumps(record), path="log.json", findings=findings)
    assert [message.text for message in run.messages] == ["go", "Hello"]
    assert [str(each) for each in findings] == [
        "1 stream of OpenAI chat mixed with another one in a response (log.json:1)"
    ]


def test_chunks_with_ids_of_their_own_are_one_completion() -> None:
    deltas = [{"role": "assistant", "content": "Hel"}, {"content": "lo"}, {}]
    chunks = completion("x", *deltas)
    for number, chunk in enumerate(chunks):
        chunk["id"] = f"chatcmpl-{number}"
    findings = Findings()
    whole = join_response(chunks, findings)
    assert whole["choices"][0]["message"]["content"] == "Hello"
    assert list(findings) == []
