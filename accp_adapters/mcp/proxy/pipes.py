"""A proxy in front of a server that is a child process and talks over its standard streams.

The client must not notice the proxy: the child has the proxy's environment, working directory and standard error,
signals are sent on to the child, and when the child ends, the proxy ends in the same way, by exit code or by signal.
One thread waits for each pipe, since that works on every operating system.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from typing import IO, Final

from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, Relay, Relayed, read_lines, refuse_unread

__all__ = ["LinePipe", "end_like", "run_stdio"]

_FORWARDED_SIGNALS: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")
_CLOSED: Final = -32000
"""The JSON-RPC code of the SDKs for a connection that is closed."""
_CHUNK: Final = 256 * 1024
"""Bytes that are read at once."""


class LinePipe:
    """A file descriptor to which several threads write lines, each of which stays in one piece."""

    def __init__(self, descriptor: int, close: Callable[[], None] | None = None) -> None:
        """Write to `descriptor`, which `close` closes; None: it is closed by its number."""
        self._descriptor = descriptor
        self._close = close or partial(os.close, descriptor)
        self._is_closed = False
        self._lock = threading.RLock()
        self._is_inside_line = False

    def write(self, data: bytes) -> None:
        """Write all of `data`; after an incomplete line, other threads wait until this thread completes it.

        Raises:
            OSError: The other end is closed.
        """
        rest = memoryview(data)
        ends_line = data.endswith(b"\n")
        with self._lock:
            if self._is_closed:
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if ends_line and self._is_inside_line:
                self._lock.release()
            elif not ends_line and not self._is_inside_line:
                self._lock.acquire()
            self._is_inside_line = not ends_line

    def close(self) -> None:
        """Close the descriptor."""
        with self._lock:
            self._is_closed = True
            self._close()


def run_stdio(
    command: Sequence[str], relay: Relay, *, source: int = 0, target: int = 1, limit: int = MAX_MESSAGE_BYTES
) -> int:
    """Run `command` behind `relay` until it ends; call this from the main thread, which receives the signals.

    Args:
        command: The server's program and its arguments.
        relay: The relay of this session.
        source: The descriptor on which the client sends; it is closed when the child reads no more.
        target: The descriptor on which the client reads; it is closed when the child writes no more.
        limit: Bytes of a line that is passed to `relay`.

    Returns:
        The child's return code; -N for a child that signal N ended, see `end_like`.

    Raises:
        OSError: The command cannot be started.
    """
    # Daemons: they may wait for the client forever, and hold nothing that must be cleaned up.
    start = partial(threading.Thread, daemon=True)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    client, server = LinePipe(target), LinePipe(child.stdin.fileno(), child.stdin.close)
    with _signals_sent_to(child):
        asking = partial(copy_context().run, _client_to_server, relay, source, server, client, limit)
        start(target=asking).start()
        answer = partial(copy_context().run, _server_to_client, relay, child.stdout, server, client, limit)
        answering = start(target=answer)
        answering.start()
        answering.join()
        relay.close()
        return child.wait()


def end_like(code: int) -> int:
    """Return the exit code for a child's return `code`; a negative one ends this process by the same signal."""
    if code < 0:
        with suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code if code >= 0 else 128 - code


@contextmanager
def _signals_sent_to(child: subprocess.Popen[bytes]) -> Iterator[None]:
    numbers = [getattr(signal, name) for name in _FORWARDED_SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda received, _: child.send_signal(received)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _client_to_server(relay: Relay, source: int, server: LinePipe, client: LinePipe, limit: int) -> None:
    try:
        for line, is_complete in read_lines(partial(os.read, source, _CHUNK), limit):
            _forward(relay, line, is_complete, server, client)
    except OSError:
        # The child reads no more; the client learns that from a closed pipe, as it would from the child.
        os.close(source)
    finally:
        server.close()


def _forward(relay: Relay, line: bytes, is_complete: bool, server: LinePipe, client: LinePipe) -> None:
    if is_complete:
        received = Message(line)
        _write(relay.from_client(received), received, server, client)
    elif relay.passes_unread:
        server.write(line)
    elif line.endswith(b"\n"):
        client.write(refuse_unread().data + b"\n")


def _write(relayed: Relayed, received: Message, server: LinePipe, client: LinePipe) -> None:
    """Write what becomes of the line `received`, which has an end of its own, if any."""
    message, pipe = relayed.message, client if relayed.to_client else server
    pipe.write(message.data if message is received else message.data + b"\n")


def _server_to_client(relay: Relay, child_out: IO[bytes], server: LinePipe, client: LinePipe, limit: int) -> None:
    # If the client reads no more, the child gets a broken pipe, as it would from the client.
    with suppress(OSError), child_out:
        for line, is_complete in read_lines(partial(os.read, child_out.fileno(), _CHUNK), limit):
            if is_complete:
                _answer(relay, Message(line), server, client)
            else:
                client.write(line)
        client.close()


def _answer(relay: Relay, received: Message, server: LinePipe, client: LinePipe) -> None:
    relayed = relay.from_server(received)
    try:
        _write(relayed, received, server, client)
    except OSError:
        if relayed.to_client:
            raise
        # The client has closed its end, and so the server's: the request fails as if the server had said so.
        failure = error_message("the server takes no more requests", relayed.message, code=_CLOSED)
        _write(relay.from_server(failure), received, server, client)
