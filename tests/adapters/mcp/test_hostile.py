"""Messages that nobody should send, and results that are too large to be looked into."""

from __future__ import annotations

import copy
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.mcp import EXTENSION, Decoder, Encoder
from accp_adapters.mcp.negotiation import ClientSettings, declare_extension
from accp_adapters.mcp.views import restore_view
from tests.adapters.mcp.messages import CAPABILITIES, Json, Wire, call, response, rows, served, start
from tests.core.view.bombs import BOMBS
from tests.properties.json_values import values
from tests.work import count_calls

MEGABYTE = 1_000_000
METHODS = ["initialize", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read", "x"]
ENCODERS = [
    {},
    {"policy": "always", "host": "both", "index": True, "fetch": True},
    {"policy": "always", "host": "structured"},
]

members = st.fixed_dictionaries(
    {},
    optional={
        "content": values | st.lists(st.dictionaries(st.sampled_from(["type", "text", "annotations"]), values)),
        "tools": values | st.lists(st.dictionaries(st.sampled_from(["name", "inputSchema", "description"]), values)),
        "capabilities": values | st.dictionaries(st.sampled_from(["experimental", "extensions"]), values),
        "structuredContent": values,
        "isError": values,
        "resources": values,
        "nextCursor": values,
        "instructions": values,
        "resultType": st.just("complete") | values,
        "cacheScope": st.just("public") | values,
        "_meta": values | st.dictionaries(st.sampled_from([EXTENSION, CAPABILITIES]), values),
        "name": values | st.sampled_from(["accp_tools", "accp_fetch"]),
        "arguments": values | st.dictionaries(st.sampled_from(["call", "describe", "search", "ref"]), values),
        "uri": values | st.sampled_from(["accp://registry", "accp://cold/x"]),
        "requestId": values,
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": values,
        "id": st.sampled_from([1, "1", 1.0]) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": members | values,
        "result": members | values,
        "error": values | st.dictionaries(st.sampled_from(["code", "message", "data"]), values),
    },
)


@pytest.mark.slow
@given(st.sampled_from(ENCODERS), st.booleans(), st.lists(messages | values, max_size=6))
def test_nothing_that_is_sent_makes_a_shim_fail_or_changes_what_it_was_given(
    settings: Any, aware: bool, sent: list[Any]
) -> None:
    encoder, decoder = Encoder(**settings), Decoder(view="view")
    before = copy.deepcopy(sent)
    if aware:
        encoder.from_client(declare_extension(start(), ClientSettings(results="view", fetch=True)))
    for message in sent:
        encoder.answer_own(message)
        encoder.from_client(decoder.from_client(message))
        decoder.from_server(encoder.from_server(message))
    assert json.dumps(sent) == json.dumps(before)


@pytest.mark.parametrize("message", [[], [call()], "text", 5, None, {}, {"id": None}, {"id": [1]}, {"id": True}])
def test_a_batch_and_what_is_no_message_passes(message: Any) -> None:
    for shim in (Encoder(), Decoder()):
        assert shim.from_client(message) is message
        assert shim.from_server(message) is message
    assert Encoder().answer_own(message) is None


FRAMES = [
    "",
    "@mcp>done:tool{",
    "@mcp>done:tool{tool:x|schema:TC}",
    "@mcp>done:tool{res:1|schema:SR}",
    "@mcp>fail:error{code:E4002|schema:ER}",
    "@mcp>done:tool{res:$cold.x|schema:TC}",
    "[" * 1000,
    7,
]
NOTES: list[Json] = [
    {"mid": "a", "at": 0, "style": "2"},
    {"mid": "a", "at": 10**9},
    {"mid": "a", "at": -1},
    {"mid": "a", "at": 0, "each": 10**12},
    {"mid": "a", "at": 0, "style": "nonsense"},
    {"mid": "a", "at": 0, "style": "2", "orders": [["x"]] * 100},
    {"mid": "a", "at": 0, "style": "2", "orders": [7]},
    {"mid": 5, "at": 0},
]


@pytest.mark.parametrize("frame", [*FRAMES, "@mcp>done:tool{tool:x|res:[[a],[1],[2]]|schema:TC}"])
@pytest.mark.parametrize("note", NOTES)
def test_a_frame_that_cannot_be_read_passes_as_it_came(frame: Any, note: Json) -> None:
    block = {"type": "resource", "resource": {"uri": "a:b", "text": frame}}
    message = response({"content": [block], "_meta": {EXTENSION: note}})
    seen = Decoder().from_server(message)
    assert seen is message or "resource" not in seen["result"]["content"][0]


VIEW_NOTES: list[tuple[str, Json]] = [
    (BOMBS["a repeated string"], {"texts": {"0": [f"o:{len(BOMBS['a repeated string'])}", None]}}),
    (BOMBS["constant columns"], {"merged": {"at": 0, "style": "4"}}),
    (BOMBS["a document that is repeated"], {"added": None}),
    (f"{'[' * 150}1{', 1' * 2000}{']' * 150}", {"merged": {"at": 0, "style": "4"}}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "note"), VIEW_NOTES, ids=range(len(VIEW_NOTES)))
def test_a_view_cannot_ask_for_more_memory_than_it_takes(text: str, note: Json) -> None:
    message = response({"content": [{"type": "text", "text": text}], "_meta": {EXTENSION: {"view": note}}})
    Decoder().from_server(message)  # imports what it needs
    tracemalloc.start()
    seen = Decoder().from_server(message)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen is message
    assert peak < 1_000_000 + 60 * len(text)


def test_deep_and_endless_values_pass() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    wire = Wire(encoder=Encoder(policy="always"), decoder=None)
    assert wire.encoder is not None
    wire.encoder.from_client(call())
    message = response({"content": [], "structuredContent": deep})
    assert wire.encoder.from_server(message) is message


def test_requests_that_are_never_answered_are_forgotten() -> None:
    encoder = Encoder(policy="always")
    for number in range(10_001):
        encoder.from_client(call(message_id=number))
    first, last = response(served(rows()), 0), response(served(rows()), 10_000)
    assert encoder.from_server(first) is first
    assert encoder.from_server(last) is not last


def large() -> Json:
    record = {"id": 0, "name": "a part of some kind", "tags": ["x", "y"], "price": 12.5}
    count = 50 * MEGABYTE // len(json.dumps(record))
    text = f"[{', '.join([json.dumps(record)] * count)}]"
    assert len(text) > 50 * MEGABYTE
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"result": [record] * count}}


@pytest.mark.slow
@pytest.mark.parametrize("fetch", [False, True])
def test_fifty_megabytes_pass_or_are_kept_with_bounded_work_and_memory(fetch: bool) -> None:
    encoder = Encoder(policy="always", fetch=fetch)
    encoder.from_client(call())
    message = response(large())
    records = len(message["result"]["structuredContent"]["result"])
    results: list[Any] = []
    tracemalloc.start()
    calls = count_calls(lambda: results.append(encoder.from_server(message)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert calls < (20 if fetch else 5) * records
    assert peak < 300 * MEGABYTE
    (seen,) = results
    if not fetch:
        assert seen is message
        return
    assert len(seen["result"]["content"][0]["text"]) < 10_000
    assert encoder.session.stored_results is not None
    assert restore_view(seen["result"], encoder.session.stored_results.open) == message["result"]
    encoder.close()


def test_fifty_megabytes_pass_a_decoder_at_once() -> None:
    decoder = Decoder(view="view")
    decoder.from_client(call())
    message = response(large())
    results: list[Any] = []
    calls = count_calls(lambda: results.append(decoder.from_server(message)))
    assert results[0] is message
    assert calls < 5 * len(message["result"]["structuredContent"]["result"])
