"""The least that a client of A2A needs, from its specification: JSON-RPC over HTTP/1.1, and server-sent events."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.foreign.wire import SECONDS

__all__ = ["EXTENSION", "call", "parts_in", "serving"]

EXTENSION = "https://datatracker.ietf.org/doc/draft-benzing-accp/00/"


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    """Serve the agent of the tests of A2A, which frames what it says for those who ask; yield its address."""
    command = [sys.executable, "-m", "tests.adapters.a2a.serve", "--port", "0", "--grpc-port", "0", "--always"]
    folder = Path(__file__).parent.parent.parent
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        found = next(found for line in process.stdout if (found := re.search(r"http://([\d.]+):(\d+)", line)))
        yield found[1], int(found[2])
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)


def call(address: tuple[str, int], method: str, message_id: str, *extensions: str) -> list[Any]:
    """Send a message; return the results: one, or each event of a stream."""
    message = {"role": "ROLE_USER", "messageId": message_id, "parts": [{"text": "What is open: all of it?"}]}
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    body = json.dumps(request).encode()
    head = [
        "POST / HTTP/1.1",
        f"Host: {address[0]}:{address[1]}",
        "Content-Type: application/json",
        "A2A-Version: 1.0",
        *([f"A2A-Extensions: {', '.join(extensions)}"] if extensions else []),
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    with socket.create_connection(address, SECONDS) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
        answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    documents = re.findall(r"(?m)^(?:data: )?(\{.*\})\s*$", answer)
    return [json.loads(document)["result"] for document in documents]


def parts_in(value: Any) -> Iterator[Any]:
    """Yield each part of an object, in its order."""
    if isinstance(value, list):
        for each in value:
            yield from parts_in(each)
    elif isinstance(value, dict):
        yield from value.get("parts", ())
        for name, each in value.items():
            if name != "parts":
                yield from parts_in(each)
