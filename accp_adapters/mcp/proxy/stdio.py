"""A proxy in front of a server that is a child process and talks over its standard streams.

The client must not notice that there is one: environment, working directory and standard error are the proxy's own,
signals go to the child, and when the child ends the proxy ends in the same way, by code or by signal. Threads that
wait for one pipe each, because a pipe can be waited for that way on every system.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, Final

from accp_adapters.mcp.proxy.relay import LIMIT, Relay, read_lines

__all__ = ["LinePipe", "end_like", "run_stdio"]

_FORWARDED: Final = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")
_CHUNK: Final = 256 * 1024


class LinePipe:
    """A file descriptor to which several threads write lines, none into another's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.RLock()
        self._inside = False

    def write(self, data: bytes) -> None:
        """Write all of `data`; what does not end a line keeps the others waiting until the same thread ends it.

        Raises:
            OSError: nobody reads it any more.
        """
        rest = memoryview(data)
        ends = data.endswith(b"\n")
        with self._lock:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if ends and self._inside:
                self._lock.release()
            elif not ends and not self._inside:
                self._lock.acquire()
            self._inside = not ends

    def close(self) -> None:
        """Say that nothing more comes."""
        os.close(self._descriptor)


def run_stdio(command: Sequence[str], relay: Relay, *, source: int = 0, target: int = 1, limit: int = LIMIT) -> int:
    """Run `command` behind `relay` until it ends; call it from the main thread, which receives the signals.

    Args:
        command: the server's program and its arguments.
        relay: the shim of this one session.
        source: the descriptor on which the client sends; it is closed when the child reads no more.
        target: the descriptor on which the client listens; it is closed when the child writes no more.
        limit: the bytes of the longest line that `relay` is shown.

    Returns:
        The child's return code; -N for a child that signal N ended, see `end_like`.

    Raises:
        OSError: the command cannot be started.
    """
    # The threads wait for ever if the client stays; they hold nothing that the end of the process would need.
    start = partial(threading.Thread, daemon=True)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    client = LinePipe(target)
    with _signals_go_to(child):
        start(target=_client_to_server, args=(relay, source, child.stdin, client, limit)).start()
        answering = start(target=_server_to_client, args=(relay, child.stdout, client, limit))
        answering.start()
        answering.join()
        return child.wait()


def end_like(code: int) -> int:
    """Return the exit code for a child's return `code`, or end by the signal that ended the child."""
    if code < 0:
        with suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code if code >= 0 else 128 - code


@contextmanager
def _signals_go_to(child: subprocess.Popen[bytes]) -> Iterator[None]:
    numbers = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda got, _: child.send_signal(got)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _client_to_server(relay: Relay, source: int, child_in: IO[bytes], client: LinePipe, limit: int) -> None:
    server = LinePipe(child_in.fileno())
    try:
        for line, whole in read_lines(partial(os.read, source, _CHUNK), limit):
            _pass_on(relay, line, whole, server, client)
    except OSError:
        # The child reads no more: neither do we, so that the client learns of it as it would from the child.
        os.close(source)
    finally:
        child_in.close()


def _pass_on(relay: Relay, line: bytes, whole: bool, server: LinePipe, client: LinePipe) -> None:
    if not whole:
        server.write(line)
        return
    passage = relay.from_client(line)
    pipe = client if passage.answered else server
    pipe.write(line if passage.data is line else passage.data + b"\n")


def _server_to_client(relay: Relay, child_out: IO[bytes], client: LinePipe, limit: int) -> None:
    # A client that reads no more: the child gets the broken pipe that it would have got from the client.
    with suppress(OSError), child_out:
        for line, whole in read_lines(partial(os.read, child_out.fileno(), _CHUNK), limit):
            answer = relay.from_server(line) if whole else line
            client.write(line if answer is line else answer + b"\n")
        client.close()
