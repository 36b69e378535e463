"""The least that a peer of ACCP needs, from the draft and two RFCs: frames, HTTP/1.1 and WebSocket, on sockets."""

import base64
import hashlib
import os
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.limits import PATIENCE

__all__ = ["Frame", "Server", "WebSocket", "open_web_socket", "post", "read_frame", "web_socket_of"]

SECONDS = PATIENCE
_FRAME = re.compile(r"@([A-Za-z0-9_-]+)>([A-Za-z]+):([A-Za-z0-9_]+)\{(.*)\}\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Frame:
    """A frame of section 3.1; body and metadata are as they came."""

    sender: str
    intent: str
    operation: str
    body: str
    meta: dict[str, str]

    @property
    def seq(self) -> int:
        """Its number."""
        return int(self.meta["seq"])


def read_frame(text: str) -> Frame:
    """Read a frame by the grammar of section 3.1."""
    found = _FRAME.fullmatch(text)
    assert found, text
    sender, intent, operation, body, meta = found.groups()
    return Frame(sender, intent, operation, body, dict(field.split(":", 1) for field in meta.split(",")))


def post(address: tuple[str, int], frame: str, *fields: str) -> tuple[int, list[Frame]]:
    """POST a frame as section 11.1 has it; return the status and the frames of the response."""
    with socket.create_connection(address, SECONDS) as connection:
        body = frame.encode()
        head = [
            "POST /accp/v1/frames HTTP/1.1",
            f"Host: {address[0]}:{address[1]}",
            "Content-Type: application/accp",
            f"Content-Length: {len(body)}",
            "Connection: close",
            *fields,
        ]
        connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    top, _, rest = answer.partition(b"\r\n\r\n")
    # "one ST-schema frame per chunk" (section 11.1)
    texts = _chunks(rest) if b"transfer-encoding: chunked" in top.lower() else [rest.decode()]
    assert not any("]@" in text or "\n" in text for text in texts) or "accp-resume: 1" in fields
    return int(top.split(b" ", 2)[1]), [read_frame(text.removesuffix("\n")) for text in texts if text]


def _chunks(data: bytes) -> list[str]:
    parts = []
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        parts.append(data[:length].decode())
        data = data[length + 2 :]
    return parts


class WebSocket:
    """A connection of RFC 6455 with text messages, after its handshake."""

    def __init__(self, connection: socket.socket, *, masks: bool) -> None:
        self._connection, self._masks = connection, masks
        self._lock = threading.Lock()

    def send(self, text: str) -> None:
        """Send one text message."""
        self._write(1, text.encode())

    def receive(self) -> str | None:
        """Return the next text message, None at the end."""
        while True:
            first = self._read(2)
            if first is None:
                return None
            size = first[1] & 127
            size = struct.unpack("!H", self._read(2) or b"\0\0")[0] if size == 126 else size
            mask = self._read(4) if first[1] & 128 else None
            data = (self._read(size) if size else b"") or b""
            if mask:
                data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
            if first[0] & 15 == 1:
                return data.decode()
            if first[0] & 15 == 8:
                return None
            if first[0] & 15 == 9:
                self._write(10, data)

    def frame(self) -> Frame:
        """Return the next frame."""
        text = self.receive()
        assert text is not None
        return read_frame(text)

    def _write(self, kind: int, data: bytes) -> None:
        head = bytes([128 | kind])
        flag = 128 if self._masks else 0
        head += bytes([flag | len(data)]) if len(data) < 126 else bytes([flag | 126]) + struct.pack("!H", len(data))
        if self._masks:
            mask = os.urandom(4)
            head, data = head + mask, bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        with self._lock:
            self._connection.sendall(head + data)

    def _read(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            more = self._connection.recv(size - len(data))
            if not more:
                return None
            data += more
        return data


@contextmanager
def open_web_socket(address: tuple[str, int], path: str = "/accp/v1/ws") -> Iterator[WebSocket]:
    """Open a WebSocket as a client."""
    with socket.create_connection(address, SECONDS) as connection:
        key = base64.b64encode(os.urandom(16)).decode()
        head = (
            f"GET {path} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        )
        connection.sendall(f"{head}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        assert b" 101 " in _read_head(connection)
        yield WebSocket(connection, masks=True)


def _read_head(connection: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            break
        head += byte
    return head


def web_socket_of(connection: socket.socket, head: bytes) -> WebSocket:
    """Answer the handshake of a client."""
    found = re.search(rb"(?i)sec-websocket-key: *(\S+)", head)
    assert found
    accept = base64.b64encode(hashlib.sha1(found[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    connection.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        + accept
        + b"\r\n\r\n"
    )
    return WebSocket(connection, masks=False)


class Server:
    """A server of ACCP, over HTTP and WebSocket: `answer` returns the frames that answer a frame."""

    def __init__(
        self,
        answer: Callable[[Frame], list[str]],
        *,
        empty: str = "204 No Content",
        piece: int = 0,
        lasts: int = 0,
        end: str = "",
    ) -> None:
        """Answer as the draft has it: one frame per chunk, nothing between.

        `piece`: chunks of so many bytes; `lasts`: the requests after which a WebSocket is cut; `end`: follows a frame.
        """
        self._answer, self._empty, self._piece, self._lasts, self._end = answer, empty, piece, lasts, end
        self.first: list[Frame] = []
        self.received: list[Frame] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while head := _read_head(connection):
                if head.startswith(b"GET"):
                    self._serve_web_socket(web_socket_of(connection, head))
                    return
                self._serve_post(connection, head)

    def _serve_web_socket(self, web_socket: WebSocket) -> None:
        asked = begun = 0
        while (text := web_socket.receive()) is not None:
            self.first += [] if begun else [read_frame(text)]
            begun = 1
            for frame in self._take(text):
                web_socket.send(frame + self._end)
            asked += ">req:" in text
            if asked == self._lasts > 0:
                return

    def _serve_post(self, connection: socket.socket, head: bytes) -> None:
        found = re.search(rb"(?i)content-length: *(\d+)", head)
        assert found
        body = b""
        while len(body) < int(found[1]):
            body += connection.recv(65_536)
        frames = self._take(body.decode())
        if not frames:
            connection.sendall(f"HTTP/1.1 {self._empty}\r\nContent-Length: 0\r\n\r\n".encode())
            return
        pieces = [f"{frame}{self._end}".encode() for frame in frames]
        if self._piece:
            whole = b"".join(pieces)
            pieces = [whole[at : at + self._piece] for at in range(0, len(whole), self._piece)]
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: Application/ACCP\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in [*pieces, b""]:
            connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def _take(self, text: str) -> list[str]:
        frame = read_frame(text)
        self.received.append(frame)
        return self._answer(frame)
