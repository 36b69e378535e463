"""The bytes of a message: what the shim leaves alone passes as it came, and so does what cannot be read exactly."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.mcp.proxy.message import read_message, write_message
from accp_adapters.mcp.proxy.relay import encoder_relay, read_lines
from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.protocol import JsonObject, _warn
from tests.adapters.mcp.messages import call, request, response, rows, served
from tests.adapters.mcp.proxy.marking_relay import marking, passed, seen
from tests.properties.json_values import values

UNTOUCHED = [
    b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
    b'  { "id" : 1 }\r\n',
    b'[{"mark":1}]\n',
    b"starting server...\n",
    b"\n",
    b"",
    b'{"mark":1,"a":1,"a":2}\n',
    b'{"mark":1,"n":1e400}\n',
    b'{"mark":1,"n":0.12345678901234567890123}\n',
    b'{"mark":1,"n":NaN}\n',
    b'{"mark":' + b"9" * 5000 + b"}\n",
    b'{"mark":"\xff"}\n',
    b'{"mark":' + b"[" * 100_000 + b"\n",
    b'{"fail":1}\n',
    b'"mark"\n',
    b"null\n",
]


@pytest.mark.parametrize("line", UNTOUCHED, ids=range(len(UNTOUCHED)))
def test_what_is_not_changed_is_the_very_bytes_that_came(line: bytes) -> None:
    assert seen(marking(), line) is line
    data, to_client = passed(marking(), line)
    assert data is line
    assert not to_client


def test_a_changed_message_is_written_in_one_line() -> None:
    assert (
        seen(marking(), b'{"mark": "a\\nb\\u00e4", "n": 1.50}\r\n')
        == '{"mark":"a\\nbä","n":1.5,"marked":true}'.encode()
    )


def test_a_lone_surrogate_survives_a_change() -> None:
    assert json.loads(seen(marking(), b'{"mark":"\\ud800"}')) == {"mark": "\ud800", "marked": True}


def test_what_cannot_be_written_as_json_passes_as_it_came() -> None:
    line = b'{"halves":1}'
    assert seen(marking(), line) is line


def test_a_request_that_the_shim_answers_goes_back() -> None:
    assert passed(marking(), b'{"method":"ours","id":7}\n') == (b'{"id":7,"result":"ours"}', True)


def test_a_shim_that_fails_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    _warn.cache_clear()
    for _ in range(2):
        seen(marking(), b'{"fail":"secret"}')
    assert len(caplog.records) == 1
    assert "the message passes unchanged; this is logged once: RuntimeError in from_server" in caplog.text
    assert "secret" not in caplog.text


def test_a_rewriter_that_is_broken_warns_once_and_the_results_pass(caplog: pytest.LogCaptureFixture) -> None:
    def broken(text: str) -> int:
        raise LookupError(text)

    _warn.cache_clear()
    relay = encoder_relay(Encoder(policy="always", counter=broken))
    for _ in range(2):
        passed(relay, json.dumps(call("rows")).encode())
        line = json.dumps(response(served(rows(40)))).encode()
        assert seen(relay, line) is line
    [record] = caplog.records
    assert (record.levelname, "LookupError in broken" in record.message) == ("WARNING", True)
    assert "Customer" not in caplog.text


@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_is_written_is_read_again(message: JsonObject) -> None:
    assert read_message(write_message(message)) == message


def chunks_of(data: bytes, size: int) -> Callable[[], bytes]:
    parts = iter([data[at : at + size] for at in range(0, len(data), size)])
    return lambda: next(parts, b"")


@given(st.binary(max_size=60).map(lambda data: data.replace(b"x", b"\n")), st.integers(1, 9), st.integers(1, 20))
def test_lines_are_the_stream_whatever_the_chunks(data: bytes, size: int, limit: int) -> None:
    lines = list(read_lines(chunks_of(data, size), limit))
    assert b"".join(line for line, _ in lines) == data
    assert all(
        line.find(b"\n") in (-1, len(line) - 1) and len(line) <= limit for line, is_complete in lines if is_complete
    )
    assert all(line.endswith(b"\n") for line, is_complete in lines[:-1] if is_complete)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_beyond_the_limit_comes_in_pieces_and_the_next_one_whole(size: int) -> None:
    lines = list(read_lines(chunks_of(b"ab\n0123456789\ncd\nef", size), limit=5))
    assert [line for line, is_complete in lines if is_complete] == [b"ab\n", b"cd\n", b"ef"]


CALL = b'"jsonrpc":"2.0","method":"tools/call","params":{"name":"write","arguments":{"n":1}}'
UNCLEAR = [
    b'{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"name":"write","arguments":{"n":NaN}}}\n',
    b'{"id":null,' + CALL + b"}\n",
    b'{"id":[83],' + CALL + b"}\n",
    b"{" + CALL + b"}\n",
    b'{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"name":"rows","name":"write"}}\n',
    b'{"id":1,"method":"ping",' + CALL + b"}\n",
    b'{"id":1,"params":{},' + CALL + b"}\n",
    b'{"id":1,"jsonrpc":"2.0","method":"tools/call","params":["write"]}\n',
    b'{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"name":"rows","Name":"write"}}\n',
    b'{"id":1,"jsonrpc":"2.0","method":"ping","METHOD":"tools/call","params":{"name":"write"}}\n',
    b'{"id":1,"params":{"name":"rows"},"param\\u017f":{"name":"write"},"method":"tools/call"}\n',
    b'{"jsonrpc":"2.0","method":["tools/call"],"params":{"name":"write"}}\n',
    b'[{"id":1,' + CALL + b"}]\n",
    b'\xef\xbb\xbf{"id":1,' + CALL + b"}\n",
    ('{"id":1,' + CALL.decode() + "}").encode("utf-16"),
]


@pytest.mark.parametrize("line", UNCLEAR, ids=range(len(UNCLEAR)))
def test_where_a_tool_is_barred_nothing_passes_that_may_call_it(line: bytes) -> None:
    data, to_client = passed(encoder_relay(Encoder(EncoderOptions(exclude=("write",)))), line)
    assert to_client
    error = json.loads(data)
    assert (error["id"], error["error"]["code"]) == (None, -32600)
    assert error["error"]["message"].startswith("E1001: expected one JSON-RPC message with a usual id")
    assert passed(encoder_relay(Encoder(EncoderOptions())), line) == (line, False)


NAMED = [
    ("tools/call", "name", ["write"]),
    ("tools/call", "name", {"toString": "write"}),
    ("tools/call", "name", None),
    ("tools/call", "other", "write"),
    ("prompts/get", "name", 5),
    ("resources/read", "uri", ["accp://registry"]),
    ("resources/subscribe", "uri", True),
    (["tools/call"], "name", "write"),
    (None, "name", "write"),
]


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
def test_a_subscription_without_a_uri_is_the_servers_to_refuse(method: str) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}).encode()
    assert passed(encoder_relay(Encoder(EncoderOptions(exclude=("wr*",)))), line) == (line, False)


@pytest.mark.parametrize("options", [EncoderOptions(exclude=("wr*",)), EncoderOptions(fetch=True), EncoderOptions()])
@pytest.mark.parametrize(("method", "member", "value"), NAMED)
def test_a_request_that_names_anything_but_a_text_is_refused(
    options: EncoderOptions, method: object, member: str, value: object
) -> None:
    asked = {"jsonrpc": "2.0", "id": "a", "method": method, "params": {member: value}}
    data, to_client = passed(encoder_relay(Encoder(options)), json.dumps(asked).encode())
    assert to_client
    said = json.loads(data)
    assert (said["id"], said["error"]["code"]) == ("a", -32602)
    assert said["error"]["message"].startswith(
        "E1004: expected 'method' to be a text" if method in (["tools/call"], None) else "E1004: expected "
    )


def test_where_a_tool_is_barred_only_names_of_the_list_are_called_once_it_is_known() -> None:
    encoder = Encoder(EncoderOptions(exclude=("delete_all",)))
    relay = encoder_relay(encoder)
    names = ["DELETE_ALL", "\uff44elete_all", "delete_all ", "other"]
    lines = [json.dumps(call(name)).encode() for name in [*names, "rows"]]
    assert [passed(relay, line)[1] for line in lines] == [False] * 5
    passed(relay, json.dumps(request("tools/list")).encode())
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("rows", "delete_all")]
    seen(relay, json.dumps(response({"tools": tools})).encode())
    answers = [passed(relay, line) for line in lines]
    assert [to_client for _, to_client in answers] == [True] * 4 + [False]
    assert all(b"E4001: expected the name of a tool, found " in data for data, _ in answers[:4])


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b'{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"name":"rows"}}\n',
        b'{"id":1,"jsonrpc":"2.0","result":{}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    ],
)
def test_where_a_tool_is_barred_clear_messages_pass_as_they_are(line: bytes) -> None:
    assert passed(encoder_relay(Encoder(EncoderOptions(exclude=("write",)))), line) == (line, False)
