"""The way to one server of a gateway: a child process with its standard streams, or streamable HTTP."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, JsonRpcMessage, write_message

__all__ = ["Deliver", "Ended", "Link", "ProcessLink", "new_link"]

Deliver = Callable[[bytes], None]
"""Takes a message of the server."""
Ended = Callable[[str], None]
"""Takes the reason why the server says no more."""

_CLOSE_SECONDS: Final = 2.0
"""How long a process may take to end by itself, and then after a signal."""


class Link(Protocol):
    """A server that messages are sent to; what it says is delivered to a callback."""

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Reach the server.

        Raises:
            OSError: It cannot be started.
        """
        ...

    async def send(self, message: JsonRpcMessage) -> None:
        """Send a message; one for a server that has ended is lost."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


def new_link(settings: ServerSettings) -> Link:
    """Return the link to a server.

    Raises:
        ImportError: A remote server needs the extra `mcp`.
    """
    if settings.command:
        return ProcessLink(settings)
    from accp_adapters.mcp.gateway.remote_link import RemoteLink  # noqa: PLC0415  needs an extra

    return RemoteLink(settings)


class ProcessLink:
    """A child process; its standard error is ours."""

    def __init__(self, settings: ServerSettings) -> None:
        """Prepare to start the command in `settings`."""
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._writing: Final = asyncio.Lock()

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Start the process."""
        environment = {**os.environ, **self._settings.environment}
        program, *arguments = self._settings.command
        self._process = await asyncio.create_subprocess_exec(
            shutil.which(program, path=environment.get("PATH")) or program,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            cwd=self._settings.folder,
            limit=MAX_MESSAGE_BYTES,
        )
        self._reading = asyncio.create_task(self._read(self._process, deliver, ended))

    async def send(self, message: JsonRpcMessage) -> None:
        """Write a line."""
        writer = self._process.stdin if self._process else None
        if writer is None:
            return
        async with self._writing:
            with suppress(ConnectionError, RuntimeError):
                writer.write(write_message(message) + b"\n")
                await writer.drain()

    async def close(self) -> None:
        """Close the process's input, which tells it to end; then by signals."""
        process = self._process
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        for end in (process.terminate, process.kill):
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _CLOSE_SECONDS)
                break
            with suppress(ProcessLookupError):
                end()
        await process.wait()
        if self._reading:
            await self._reading

    async def _read(self, process: asyncio.subprocess.Process, deliver: Deliver, ended: Ended) -> None:
        assert process.stdout is not None
        reason = ""
        try:
            while line := await process.stdout.readline():
                deliver(line)
        except ValueError:
            reason = f"it wrote a line of more than {MAX_MESSAGE_BYTES} bytes"
            process.kill()
        code = await process.wait()
        ended(reason or _describe(code))


def _describe(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    with suppress(ValueError):
        return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process was ended by signal {-code}"
