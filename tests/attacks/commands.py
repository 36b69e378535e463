"""The commands as processes under attack: where they listen, and the most memory that they ever had."""

import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

import pytest

__all__ = ["ACCP", "BOUND", "Command", "needs_proc", "running"]

ACCP: Final = (sys.executable, "-c", "from accp_adapters.cli import main; main()")
"""Starts the command `accp`."""
BOUND: Final = 500
"""Megabytes that no attack makes a process take."""
_ADDRESS: Final = re.compile(r"((?:https?|tcp|tls|acp\+wss?)://[^\s/]+:\d+)(\S*)")
needs_proc: Final = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


class Command:
    """A process that serves."""

    def __init__(self, process: subprocess.Popen[str], found: list[tuple[str, str]]) -> None:
        """Watch `process`, which listens at the addresses and paths that are `found`."""
        addresses = [address for address, _ in found]
        self._process: Final = process
        self.urls: Final = addresses
        """The addresses, without paths."""
        self.paths: Final = [path for _, path in found]
        """What it says behind each."""
        self.url: Final = addresses[0]
        """The first address, without a path."""
        self.ports: Final = [urlsplit(each).port or 0 for each in addresses]
        """The port of each address."""
        self.said: Final = deque[str](maxlen=1_000)
        """The last lines that it wrote."""

    def listen(self, stream: IO[str]) -> None:
        """Keep what it writes, until the test ends and closes the stream."""
        with suppress(ValueError):
            self.said.extend(stream)

    @property
    def peak(self) -> int:
        """The most megabytes that the process ever had in memory."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1024

    @property
    def sockets(self) -> int:
        """The sockets that the process has open."""
        found = 0
        for each in Path(f"/proc/{self._process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # it was closed meanwhile
                found += os.readlink(each).startswith("socket:")
        return found


@contextmanager
def running(*words: str, addresses: int = 1, **environment: str) -> Iterator[Command]:
    """Start a command, and yield it once it has said where it listens.

    Args:
        words: The program and its arguments.
        addresses: How many addresses it says.
        environment: Variables beside those of this process.
    """
    folder = str(Path(__file__).parents[2])
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": folder, **environment},
    ) as process:
        assert process.stdout is not None
        lines, found = list[str](), list[tuple[str, str]]()
        while len(found) < addresses and (line := process.stdout.readline()):
            lines.append(line)
            found += [(each.replace("acp+ws", "http"), path) for each, path in _ADDRESS.findall(line)[:1]]
        try:
            assert len(found) == addresses, "".join(lines)
            command = Command(process, found)
            threading.Thread(target=command.listen, args=(process.stdout,), daemon=True).start()
            yield command
        finally:
            process.kill()  # the work of its threads might last
