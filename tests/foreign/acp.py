"""The least that a peer of ACP needs, from its specification and two RFCs: JSON over sockets, HTTP/1.1, WebSocket."""

import base64
import json
import os
import re
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.foreign.wire import SECONDS, WebSocket

__all__ = ["ACCP", "Served", "card_of", "lines_of", "listening", "opened", "request", "served", "write_agent"]

ACCP = str(Path(sys.executable).with_name("accp"))
_AGENT = """
from accp_core.acp import AgentCard

class Echo:
    card = AgentCard(name="echo")

    async def handle(self, message, peer):
        return f"{message.context_id or ''}{message.parts[0].content}"

agent = Echo()
"""
_SERVER = """
import asyncio, socket, sys
import uvicorn
from accp_adapters.bindings.acp import AcpHost, acp_app, relay_app, serve_relay, serve_tcp
from accp_adapters.bindings import BearerTokens, Principal
from crm import agent

def listening():
    found = socket.create_server(("127.0.0.1", 0))
    return found, "%s:%s" % found.getsockname()

def server(app):
    return uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))

async def main(token):
    host = AcpHost(agent, authenticate=BearerTokens({token: Principal("guest")}))
    (relay, relay_place), (direct, place) = listening(), listening()
    async with serve_tcp(host) as tcp:
        room = f"acp+ws://{relay_place}/acp/{token}"
        tasks = [server(relay_app()).serve([relay]), server(acp_app(host)).serve([direct]), serve_relay(host, room)]
        running = asyncio.gather(*tasks)
        await asyncio.sleep(0.5)
        for url in (f"http://{relay_place}", f"tcp://127.0.0.1:{tcp}", room, f"http://{place}"):
            print(f"serving at {url}", file=sys.stderr, flush=True)
        await running

asyncio.run(main(sys.argv[1]))
"""


@dataclass
class Served:
    """An agent that is served over A, C, D and E, and its relay."""

    http: tuple[str, int]
    tcp: tuple[str, int]
    relay: tuple[str, int]
    token: str
    links: list[str]


def write_agent(folder: Path) -> None:
    """Write the agent, which repeats what it is told."""
    (folder / "crm.py").write_text(_AGENT)


@contextmanager
def listening(folder: Path, *words: str, count: int = 1) -> Iterator[list[str]]:
    """Run a command; yield the first addresses that it says."""
    process = subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = (re.search(r" at (\S+://\S+)$", line) for line in process.stderr)
        said = (match[1] for match in found if match)
        yield [next(said) for _ in range(count)]
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serve the agent over A, C, D and E with a token that was made for this run."""
    write_agent(folder)
    (folder / "serve_all.py").write_text(_SERVER)
    token = f"tok_{secrets.token_hex(8)}"
    with listening(folder, sys.executable, "serve_all.py", token, count=4) as (relay, tcp, room, http):
        direct = f"acp://{http.partition('://')[2]}/{token}"
        yield Served(_place(http), _place(tcp), _place(relay), token, [room, direct])


def _place(url: str) -> tuple[str, int]:
    host, _, port = url.partition("://")[2].partition(":")
    return host, int(port.partition("/")[0])


def request(
    address: tuple[str, int], method: str, path: str, body: object = None, *fields: str
) -> tuple[int, Any, dict[str, str]]:
    """Send a request; return the status, the JSON of the response, and its fields."""
    data = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", f"Host: {address[0]}:{address[1]}", "Connection: close", *fields]
    head += [f"Content-Length: {len(data)}", "Content-Type: application/json"] if body is not None else []
    with socket.create_connection(address, SECONDS) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + data)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    top, _, rest = answer.partition(b"\r\n\r\n")
    lines = top.decode().split("\r\n")
    found = dict(line.lower().split(": ", 1) for line in lines[1:])
    if found.get("transfer-encoding") == "chunked":
        rest = b"".join(re.findall(rb"(?s)[0-9a-f]+\r\n(.*?)\r\n(?=[0-9a-f]+\r\n|$)", rest))
    return int(lines[0].split(" ")[1]), json.loads(rest) if rest else None, found


@contextmanager
def opened(address: tuple[str, int], path: str, *fields: str) -> Iterator[tuple[WebSocket, dict[str, str]]]:
    """Open a WebSocket; yield it and the fields of the answer."""
    with socket.create_connection(address, SECONDS) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        head = [f"GET {path} HTTP/1.1", f"Host: {address[0]}:{address[1]}", "Upgrade: websocket", "Connection: Upgrade"]
        head += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *fields, "", ""]
        connection.sendall("\r\n".join(head).encode())
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += connection.recv(1)
        lines = answer.decode().split("\r\n")
        assert " 101 " in lines[0]
        yield WebSocket(connection, masks=True), dict(line.lower().split(": ", 1) for line in lines[1:] if line)


def card_of(text: str | None) -> Any:
    """Return the card in a message of type acp.agent_card."""
    assert text is not None
    message = json.loads(text)
    assert message["type"] == "acp.agent_card"
    return message["card"]


def lines_of(connection: socket.socket) -> Iterator[Any]:
    """Yield the JSON of each line."""
    for line in connection.makefile("rb"):
        if line.strip():
            yield json.loads(line)
