"""Recorded streams: the SDKs of the providers read the vectors alike, whichever way a log keeps them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from accp_adapters.replay import Findings, UnreadableRun, parse_runs
from accp_adapters.replay.formats.streams.events import events_of
from accp_adapters.replay.formats.streams.joining import join_response
from tests.conformance.vectors import ROOT


def recorded(name: str) -> list[Any]:
    """Return the response of each record of a vector."""
    lines = (ROOT / "replay" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["response"] for line in lines]


def joined(response: Any) -> Any:
    """Return the response that a stream comes to, all of it understood."""
    findings = Findings()
    whole = join_response(response, findings)
    assert list(findings) == []
    return whole


@contextmanager
def provider(streams: list[str]) -> Iterator[str]:
    """Answer one request after the other with one of `streams`; yield the address."""
    waiting = iter(streams)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(next(waiting).encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_chunks_come_to_what_the_sdk_of_openai_makes_of_them() -> None:
    openai = pytest.importorskip("openai")
    responses = recorded("openai_stream.jsonl")
    with provider(responses) as address, openai.OpenAI(api_key="k", base_url=address) as client:
        for response in responses:
            with client.chat.completions.stream(model="m", messages=[]) as stream:
                expected = stream.get_final_completion().choices[0].message
            (choice,) = joined(response)["choices"]
            assert (choice["message"]["content"] or None) == expected.content
            ours = [(call["id"], call["function"]) for call in choice["message"].get("tool_calls", ())]
            theirs = [(call.id, call.function) for call in expected.tool_calls or ()]
            assert ours == [(key, {"name": made.name, "arguments": made.arguments}) for key, made in theirs]


def test_events_come_to_what_the_sdk_of_anthropic_makes_of_them() -> None:
    anthropic = pytest.importorskip("anthropic")
    responses = recorded("anthropic_stream.jsonl")
    texts = ["".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events) for events in responses]
    with provider(texts) as address, anthropic.Anthropic(api_key="k", base_url=address) as client:
        for text in texts:
            with client.messages.stream(model="m", max_tokens=9, messages=[]) as stream:
                expected = stream.get_final_message().model_dump(mode="json")["content"]
            assert [said(block) for block in joined(text)["content"]] == [said(block) for block in expected]


def said(block: dict[str, Any]) -> dict[str, Any]:
    """Return what a block says."""
    return {name: block[name] for name in ("type", "text", "thinking", "id", "name", "input") if name in block}


CHUNKS = [
    {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": "a\u2028"}}],
    },
    {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}]},
]
TEXTS = [json.dumps(chunk, ensure_ascii=False) for chunk in CHUNKS]


@pytest.mark.parametrize(
    "kept",
    [
        CHUNKS,
        TEXTS,
        [*TEXTS, "[DONE]"],
        [f"data: {text}" for text in TEXTS],
        [f"data: {text}\n\n" for text in (*TEXTS, "[DONE]")],
        "\n".join(f"data: {text}" for text in TEXTS),
        "\r\n\r\n".join(f"id: 1\r\ndata:{text}" for text in TEXTS),
        f": ping\n\ndata: {TEXTS[0][:10]}\ndata: {TEXTS[0][10:]}\n\ndata: {TEXTS[1]}",
        [{"event": "message", "data": chunk} for chunk in CHUNKS],
        [{"time": 1, "data": text} for text in (*TEXTS, "[DONE]")],
    ],
)
def test_a_stream_is_read_however_a_log_keeps_it(kept: Any) -> None:
    (choice,) = joined(kept)["choices"]
    assert choice["message"] == {"role": "assistant", "content": "a\u2028b"}
    record = {"request": {"model": "m", "messages": [{"role": "user", "content": "go"}]}, "response": {"body": kept}}
    (run,) = parse_runs(json.dumps(record), path="log.json")
    assert [message.text for message in run.messages] == ["go", "a\u2028b"]


@pytest.mark.parametrize("kept", ["hello", "", [], {}, None, 7, ["hello"], [1], [{"x": 1}], ["data: x", 1], '{"a": 1}'])
def test_what_is_no_stream_stays_as_it_is(kept: Any) -> None:
    assert join_response(kept, Findings()) == kept


def test_servers_that_give_calls_whole_or_names_again_are_understood() -> None:
    def chunk(*calls: dict[str, Any]) -> dict[str, Any]:
        return {
            "choices": [
                {"index": 0, "delta": {"role": "assistant", "tool_calls": list(calls)}, "finish_reason": "stop"}
            ]
        }

    made = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    (choice,) = joined([chunk(made, {**made, "id": "c2"}), chunk({**made, "id": "c2", "function": {"name": "f"}})])[
        "choices"
    ]
    assert choice["message"]["role"] == "assistant"
    assert [(call["id"], call["function"]) for call in choice["message"]["tool_calls"]] == [
        ("c1", {"name": "f", "arguments": "{}"}), ("c2", {"name": "f", "arguments": "{}"}),
    ]  # fmt: skip
    (choice,) = joined([chunk({"id": "c3", "function": made["function"]})])["choices"]
    assert [call["id"] for call in choice["message"]["tool_calls"]] == ["c3"]


def test_a_file_of_events_says_where_a_stream_belongs() -> None:
    with pytest.raises(UnreadableRun, match=r'log:1:1: expected JSON, found a stream of events; log it as {"request"'):
        parse_runs("".join(f"data: {text}\n\n" for text in TEXTS), path="log")


def test_each_event_of_a_stream_is_found_once_in_a_long_text() -> None:
    events = events_of("".join(f'data: {{"n": {n}}}\n\n' for n in range(5_000)))
    assert [event["n"] for event in events or ()] == list(range(5_000))


def request(*words: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"model": "m", "messages": [{"role": roles[n % 2], "content": each} for n, each in enumerate(words)]}


def test_the_next_request_continues_any_of_several_choices() -> None:
    def answer(*words: str) -> dict[str, Any]:
        return {"choices": [{"index": n, "message": {"role": "assistant", "content": w}} for n, w in enumerate(words)]}

    records = [
        {"request": request("go"), "response": answer("left", "right")},
        {"request": request("go", "right", "on"), "response": answer("there")},
        {"request": request("go"), "response": answer("up", "down")},
    ]
    findings = Findings()
    first, second = parse_runs("\n".join(map(json.dumps, records)), path="log.jsonl", findings=findings)
    assert list(findings) == []
    assert [message.text for message in first.messages] == ["go", "left", "right", "on", "there"]
    # Both choices were paid for, one of them is sent again.
    assert [(call.prompt, call.output) for call in first.calls] == [((0,), (1, 2)), ((0, 2, 3), (4,))]
    assert [message.text for message in second.messages] == ["go", "up", "down"]


def test_candidates_of_gemini_and_generations_of_langchain_are_all_counted() -> None:
    said = [{"role": "model", "parts": [{"text": words}]} for words in ("a", "b")]
    asked = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
    generations = [[{"text": "a"}, {"message": {"type": "ai", "content": "b"}}]]
    for record in (
        {"request": asked, "response": {"candidates": [{"content": each} for each in said]}},
        {"id": "r", "run_type": "llm", "inputs": request("go"), "outputs": {"generations": generations}},
    ):
        (run,) = parse_runs(json.dumps(record), path="log.json")
        assert [message.text for message in run.messages] == ["go", "a", "b"]
        assert [call.output for call in run.calls] == [(1, 2)]
