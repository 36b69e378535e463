"""What the fuzzers of the adapters start from: states, queries, MCP messages, A2A objects, lines of ACP."""

import json
from collections.abc import Iterator
from hashlib import sha512
from typing import Any

from a2a.types import Artifact, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToJson
from langchain_core.messages import messages_to_dict

from accp_adapters.a2a import encode, task_to_frames
from accp_adapters.mcp import Decoder
from accp_core import render_text, serialize_frame
from accp_core.references import key_of, reference_to
from tests.adapters.mcp.messages import Wire, call, response, rows, served, start, started
from tests.harness.fuzz.difference import WRITERS
from tests.harness.fuzz.thread import ROWS, TEXT, conversation
from tests.harness.fuzz.view import count

__all__ = ["acp_lines", "layouts", "mcp_lines", "queries", "states", "tasks", "values"]


def values() -> Iterator[bytes]:
    """Yield bytes that are values, each once in every layout."""
    for number in range(5 * len(WRITERS)):
        noise = b"".join(sha512(f"{number}.{part}".encode()).digest() for part in range(2))
        yield bytes([number * 4 % 256 | number % 4, 160 + number % 96]) + noise[: 20 + number]


def layouts() -> Iterator[str]:
    """Yield layouts and views: the first line is the layout."""
    for write in WRITERS:
        for value in (ROWS, {"rows": ROWS[:3], "text": "a\nb", "n": None}, [[1, 2], [3, 4]]):
            view = render_text(write(value), counter=count)
            yield f"{view.layout}\n{view.text}"
    yield "v4 on1l+2s;1.0:3<1\n[1]\n[cut off here in the source]"


def states() -> Iterator[str]:
    """Yield states of threads, with the private keys of the middleware and of a master graph."""
    messages = list(conversation())
    written = messages_to_dict(messages)
    private = {
        "accp_texts": {key_of(TEXT): TEXT, "cold.1": 1},
        "accp_session": "run-0",
        "accp_stored": {"rc1": [key_of(TEXT)], "x": []},
        "accp_offered": True,
    }
    yield json.dumps({"messages": written} | private)
    yield json.dumps({"messages": written[:3]})
    for name in private:
        yield json.dumps({"messages": written[-3:], name: {"h2": [1], "rc1": "x"}})
    yield from (chr(160 + number) + "\x05" + "\xc0\x02\x01\x02\x05\x06" * 5 + str(number) for number in range(20))
    context = {"AgentContext": {"SubTaskID": "s1", "AgentID": "crm", "ToDoList": ["x"], "Context": []}}
    yield json.dumps({"agent_contexts": {"s1": context}, "aci_progress": {"interaction": {}, "repeatable": []}})


def queries() -> Iterator[str]:
    """Yield queries of the fetcher's three texts; the first character chooses the texts."""
    selects = (
        "SELECT * FROM orders WHERE id > 1 ORDER BY by DESC LIMIT 2",
        "SELECT o.id, i.k FROM orders o JOIN orders.items i ON i._row = o._row",
        "SELECT count(*), max(id) FROM orders GROUP BY paid",
        "WITH x AS (SELECT id FROM orders) SELECT * FROM x UNION SELECT 1",
        f"SELECT * FROM {reference_to(key_of('x'))}",
    )
    others = (
        "paid = true",
        "orders.0.items",
        "orders",
        "error x",
        "id, by",
        "",
        "u1.age",
        "ERROR",
        '{"query": 1, "offset": "2"}',
    )
    for number, query in enumerate((*selects, *others)):
        for texts in (1, 2, 4, 7):
            yield chr(texts + 8 * (number % 4)) + query


def mcp_lines() -> Iterator[str]:
    """Yield what goes over a connection of every kind of proxy; a server's lines begin with `<`."""
    results: tuple[Any, ...] = (
        served(rows(8)),
        served(rows(9), indent=None),
        served([1, 2]),
        served("text"),
        {"isError": True},
    )
    for choice, era in enumerate(("2025-11-25", "2026-07-28")):
        wire = Wire(era=era, decoder=Decoder())  # type: ignore[arg-type]
        lines = [json.dumps(start(era)), "<" + json.dumps(response(started(era), 0))]  # type: ignore[arg-type]
        wire.begin()
        for number, result in enumerate(results, 1):
            lines += [json.dumps(call(message_id=number, era=era)), "<" + json.dumps(response(result, number))]  # type: ignore[arg-type]
            wire.call(result, number)
        lines += ["<" + json.dumps(each) for each in wire.between]
        for setting in range(4):
            yield chr(setting + 8 * (setting % 3)) + "\n".join(lines[choice:])
    tools = {"tools": [{"name": "find", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}]}
    for setting in range(4):
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        named = call("accp_tools", {"search": "find", "calls": [{"tool": "find", "arguments": {}}]}, message_id=2)
        yield chr(setting) + "\n".join(
            [json.dumps(asked), "<" + json.dumps(response(tools)), json.dumps(named), "<[1]"]
        )
    yield "\0event: message\r\nid: 1\ndata: {}\n\n: comment\n\ndata: a\ndata: b\n\n"


def tasks() -> Iterator[bytes]:
    """Yield A2A objects, plain and with frames, and frames; the first byte says which kind and how it is written."""
    message = Message(
        message_id="m1", context_id="c", task_id="t", role=Role.ROLE_AGENT, parts=[Part(text=TEXT), Part(text="hi")]
    )
    task = Task(
        id="t",
        context_id="c",
        status=TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=message),
        artifacts=[Artifact(artifact_id="a", parts=[Part(text=TEXT), Part(url="http://x", filename="x.csv")])],
        history=[Message(message_id="0123456789ab", role=Role.ROLE_USER, parts=[Part(text="Which?")])],
    )
    for kind, event in ((0, task), (1, message)):
        for each in (event, encode(event, never_larger=False)):
            yield bytes([kind]) + MessageToJson(each, indent=None).encode()
            yield bytes([kind | 4]) + each.SerializeToString()
    frames = [serialize_frame(frame) for frame in task_to_frames(task)]
    yield from (b"\0" + "\n".join(frames[start:]).encode() for start in range(len(frames)))


def acp_lines() -> Iterator[str]:
    """Yield connections: opened, closed, resumed; cards, messages, replies, acknowledgements."""
    card = {"type": "acp.agent_card", "card": {"name": "B", "capabilities": {}}, "last_server_seq": 1}
    resume = {**card, "resume": {"log": "0" * 12, "peer_log": "000000000001", "window": 8}}
    message = {"type": "acp.message", "role": "user", "message_id": "m1", "server_seq": 1}
    told = {**message, "parts": [{"type": "text", "content": "x"}, {"type": "data", "data": {"a": 1}}]}
    reply = {"type": "acp.reply", "correlation_id": "000000000002", "parts": []}
    ack = {"type": "acp.ack", "last_server_seq": 2, "log": "000000000001"}
    relayed = {**told, "id": "m1", "seq": 4, "ts": 1, "sent_at": "2026-01-01T00:00:00Z"}
    lines = [
        "+",
        *map(json.dumps, (card, resume, told, told, reply, ack, relayed, {"type": "acp.error", "error_code": "E"})),
    ]
    yield "\n".join([*lines, "!hello", "!x", "-", "!later", "+", json.dumps(resume), json.dumps(ack), "-"])
    yield from lines
