"""What a peer sees that was written from ACP transport 0.3 alone: each binding, and the fields of the envelope."""

import asyncio
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.bindings.acp import relay_app
from tests.adapters.bindings.acp.agents import serving
from tests.foreign.acp import ACCP, Served, card_of, lines_of, opened, request, served, write_agent
from tests.foreign.wire import SECONDS, WebSocket
from tests.limits import wait_until

# "Each WebSocket frame carries one JSON message" (section 3.4), literally, with fields that nobody knows.
MESSAGE: dict[str, Any] = {
    "type": "acp.message",
    "message_id": "msg_abc123def456",
    "server_seq": 42,
    "ts": "2026-03-20T02:51:00Z",
    "from": "Agent-A",
    "role": "user",
    "parts": [{"type": "text", "content": "Hello, Agent-B!"}],
    "x_unknown": {"deep": [1, None]},
    "to_peer": "echo",
    "sig": "00",
}
CARD = {"type": "acp.agent_card", "message_id": "card_1", "ts": "2026-03-20T02:51:00Z", "card": {"name": "Agent-A"}}


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as found:
        yield found


def say(web_socket: WebSocket, text: str, message_id: str, **fields: Any) -> Any:
    """Send a message and return the message that answers it."""
    parts = [{"type": "text", "content": text}]
    web_socket.send(json.dumps({**MESSAGE, "message_id": message_id, "parts": parts, **fields}))
    return answer_to(web_socket, message_id)


def answer_to(web_socket: WebSocket, message_id: str) -> Any:
    while True:
        text = web_socket.receive()
        assert text is not None
        message = json.loads(text)
        if message.get("correlation_id") == message_id:
            return message


@pytest.mark.requirement("acp:3.2-1", "acp:5.1-1")
def test_a_link_has_host_port_and_a_token_that_was_made_at_startup(peer: Served) -> None:
    room, direct = peer.links
    assert re.fullmatch(r"acp://127\.0\.0\.1:[0-9]+/tok_[0-9a-f]{16}", direct)
    assert re.fullmatch(r"acp\+ws://127\.0\.0\.1:[0-9]+/acp/tok_[0-9a-f]{16}", room)
    assert room.rpartition("/")[2] == direct.rpartition("/")[2]


@pytest.mark.requirement("acp:1-1", "acp:1-2", "acp:3.5-1", "acp:3.3-3", "acp:3.4-1", "acp:8-1")
def test_a_direct_guest_gets_the_card_and_its_answers(peer: Served) -> None:
    with opened(peer.http, f"/{peer.token}") as (web_socket, fields):
        assert "x-acp-version" in fields
        card = card_of(web_socket.receive())
        web_socket.send(json.dumps(CARD))
        answer = say(web_socket, "Hello, Agent-B!", "msg_a1")
    assert set(card["capabilities"]["bindings"]) == {"ws-p2p", "http-relay", "http-sse", "tcp"}
    assert card["capabilities"]["multi_session"] is True
    assert (card["endpoints"]["send"], card["endpoints"]["stream"]) == ("/message:send", "/stream")
    assert (answer["type"], answer["role"]) == ("acp.message", "agent")
    assert answer["parts"] == [{"type": "text", "content": "Hello, Agent-B!"}]
    assert answer["message_id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", answer["ts"])


@pytest.mark.requirement("acp:3.3-1", "acp:3.6-1")
def test_the_token_may_stand_in_a_header_and_a_wrong_one_is_refused(peer: Served) -> None:
    with opened(peer.http, "/", f"X-ACP-Token: {peer.token}", "X-ACP-Agent: Agent-A", "X-ACP-Version: 0.7") as (
        web_socket,
        _,
    ):
        assert card_of(web_socket.receive())["name"] == "echo"
    with opened(peer.http, "/tok_0000000000000000") as (web_socket, _):
        assert json.loads(web_socket.receive() or "")["code"] == "invalid_token"
        assert web_socket.receive() is None


@pytest.mark.requirement("acp:1-2", "acp:8-3")
def test_unknown_types_are_ignored_and_numbers_of_the_server_rise(peer: Served) -> None:
    with opened(peer.http, f"/{peer.token}") as (web_socket, _):
        web_socket.send('{"type":"acp.of_tomorrow","x":1}')
        numbers = [say(web_socket, f"{number}", f"msg_b{number}")["server_seq"] for number in range(3)]
    assert all(type(number) is int for number in numbers)
    assert numbers == sorted(set(numbers))


@pytest.mark.requirement("acp:8-2")
def test_a_message_that_comes_twice_is_handled_once(peer: Served) -> None:
    with opened(peer.http, f"/{peer.token}") as (web_socket, _):
        say(web_socket, "once", "msg_c1")
        for message_id in ("msg_c1", "msg_c2"):
            web_socket.send(json.dumps({**MESSAGE, "message_id": message_id}))
        answered = [json.loads(web_socket.receive() or "{}").get("correlation_id")]
    assert answered == ["msg_c2"]


@pytest.mark.requirement("acp:8-4")
def test_a_sync_request_is_answered_by_a_reply_and_fields_of_a_task_are_taken(peer: Served) -> None:
    with opened(peer.http, f"/{peer.token}") as (web_socket, _):
        fields = {"correlation_id": "msg_d1", "task_id": "task_1", "context_id": "ctx:"}
        answer = say(web_socket, "hi", "msg_d1", **fields)
    assert answer["type"] == "acp.reply"
    assert answer["parts"] == [{"type": "text", "content": "ctx:hi"}]


@pytest.mark.requirement("acp:4.2-1")
def test_lines_on_standard_input_are_answered_on_standard_output(tmp_path: Path) -> None:
    write_agent(tmp_path)
    lines = "".join(json.dumps(each) + "\n" for each in (CARD, MESSAGE))
    run = subprocess.run(
        [ACCP, "serve", "crm:agent", "--stdio"], input=lines, cwd=tmp_path, capture_output=True, text=True,
        timeout=SECONDS, check=True,
    )  # fmt: skip
    messages = [json.loads(line) for line in run.stdout.splitlines() if line]
    assert messages[0]["card"]["name"] == "echo"
    assert messages[-1]["parts"] == MESSAGE["parts"]
    assert messages[-1]["correlation_id"] == MESSAGE["message_id"]


@pytest.mark.requirement("acp:7.2-1")
def test_lines_on_tcp_are_answered_once_the_first_has_brought_the_token(peer: Served) -> None:
    with socket.create_connection(peer.tcp, SECONDS) as connection:
        for each in ({**CARD, "token": peer.token}, {**MESSAGE, "message_id": "msg_e1"}):
            connection.sendall(json.dumps(each).encode() + b"\n")
        messages = lines_of(connection)
        assert next(messages)["card"]["name"] == "echo"
        answer = next(each for each in messages if each.get("correlation_id") == "msg_e1")
    assert answer["parts"] == MESSAGE["parts"]


@pytest.mark.requirement("acp:3.6-2", "acp:5.3-1", "acp:5.3-2", "acp:5.3-3")
def test_a_guest_of_the_relay_joins_sends_and_polls_with_the_same_token(peer: Served) -> None:
    room = f"/acp/{peer.token}"
    status, made, _ = request(peer.relay, "POST", f"/acp/new?token={peer.token}")
    assert (status, made["token"], made["existed"]) == (200, peer.token, True)
    status, joined, _ = request(peer.relay, "POST", f"{room}/join", {"name": "Agent-A", "card": {"name": "Agent-A"}})
    assert (status, joined["ok"]) == (200, True)
    after = joined["seq"]
    status, sent, _ = request(peer.relay, "POST", f"{room}/send", {**MESSAGE, "message_id": "msg_f1", "id": "msg_f1"})
    assert (status, sent["ok"]) == (200, True)
    found: list[Any] = []

    def is_answered() -> bool:
        messages = request(peer.relay, "GET", f"{room}/poll")[1]["messages"]
        found.extend(each for each in messages if each.get("correlation_id") == "msg_f1" and each["seq"] > after)
        return bool(found)

    wait_until(is_answered)
    assert found[0]["parts"] == MESSAGE["parts"]
    assert request(peer.relay, "GET", "/acp/tok_0000000000000000/poll")[0] == 403


@pytest.mark.requirement("acp:5.5-1")
async def test_messages_of_a_relay_live_as_long_as_it_is_told() -> None:
    async with serving(relay_app(ttl_seconds=0.5)) as port:
        ask = partial(asyncio.to_thread, request, ("127.0.0.1", port))
        token = (await ask("POST", "/acp/new"))[1]["token"]
        await ask("POST", f"/acp/{token}/send", {})
        assert (await ask("GET", f"/acp/{token}/poll"))[1]["count"] == 1
        while (await ask("GET", f"/acp/{token}/poll"))[1]["count"]:
            await asyncio.sleep(0.1)


@pytest.mark.requirement("acp:6.2-1", "acp:6.3-1", "acp:8-2")
def test_a_message_is_posted_and_the_answers_stream(peer: Served) -> None:
    token = f"X-ACP-Token: {peer.token}"
    status, card, fields = request(peer.http, "GET", "/.well-known/acp.json")
    assert (status, card["name"], fields["content-type"]) == (200, "echo", "application/json")
    with socket.create_connection(peer.http, SECONDS) as stream:
        stream.sendall(f"GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{peer.http[1]}\r\n{token}\r\n\r\n".encode())
        lines = stream.makefile("rb")
        # The body of section 6.3, literally.
        body = {"parts": [{"type": "text", "content": "Hello"}], "message_id": "msg_abc123"}
        first, second = (request(peer.http, "POST", "/message:send", body, token)[1] for _ in range(2))
        assert first["ok"] is True
        assert (first["message_id"], first["server_seq"]) == (second["message_id"], second["server_seq"])
        data = (json.loads(line[6:]) for line in lines if line.startswith(b"data: "))
        answer = next(each for each in data if each.get("correlation_id") == "msg_abc123")
    assert (answer["type"], answer["parts"]) == ("acp.message", [{"type": "text", "content": "Hello"}])


@pytest.mark.requirement("acp:6.3-2")
@pytest.mark.slow
def test_a_silent_stream_is_kept_alive_by_comments(peer: Served) -> None:
    with socket.create_connection(peer.http, SECONDS) as stream:
        head = f"GET /stream HTTP/1.1\r\nHost: 127.0.0.1:{peer.http[1]}\r\nX-ACP-Token: {peer.token}\r\n\r\n"
        stream.sendall(head.encode())
        assert b": keepalive\n" in stream.makefile("rb")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("no json", 400, "ERR_INVALID_REQUEST"),
        ({"parts": "none"}, 400, "ERR_INVALID_REQUEST"),
        ({"role": "nobody", "text": "x"}, 400, "ERR_INVALID_REQUEST"),
    ],
)
def test_over_http_a_refusal_has_its_code(peer: Served, body: object, status: int, code: str) -> None:
    found, answer, _ = request(peer.http, "POST", "/message:send", body, f"X-ACP-Token: {peer.token}")
    assert (found, answer["error_code"], answer["ok"]) == (status, code, False)


def test_debug_explains_each_envelope_and_hides_secrets(tmp_path: Path) -> None:
    write_agent(tmp_path)
    words, token = (
        [ACCP, "--debug", "serve", "crm:agent", "--http", "127.0.0.1:0", "--token-env", "TOKENS"],
        "tok_5ecret",
    )
    environment = {**os.environ, "TOKENS": f"ann:{token}"}
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            link = next(found for line in process.stderr if (found := re.search(r"//([\d.]+):(\d+)", line)))
            address = link[1], int(link[2])
            with opened(address, f"/{token}") as (web_socket, _):
                card_of(web_socket.receive())
                say(web_socket, '{"password": "hunter2", "n": 1}', "msg_d1")
                say(web_socket, "@ann>req:add{password:hunter3|n:2}[mid:a,seq:1]", "msg_d2")
            body = {**MESSAGE, "message_id": "msg_d3", "parts": [{"type": "data", "data": {"api_key": "hunter4"}}]}
            request(address, "POST", "/message:send", body, f"X-ACP-Token: {token}")
        finally:
            process.terminate()
            errors = process.communicate(timeout=SECONDS)[1]
    said = [line for line in errors.splitlines() if line.startswith("debug: ") and " in acp: Envelope of ACP(" in line]
    assert {line.split()[1] for line in said} == {"received", "sent"}
    assert all(any(name in line for line in said) for name in ("acp.agent_card", "acp.message", "msg_d1", "msg_d3"))
    assert "frame ann>req:add{password: [redacted], n: 2}" in errors
    assert "hunter" not in errors and token not in errors
