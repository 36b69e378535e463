"""The link to a server that is a child process and talks over its standard streams."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from accp_adapters.mcp.links.link import Deliver, Ended
from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES
from accp_adapters.serving.processes import end_process

__all__ = ["ProcessLink"]


class ProcessLink:
    """A child process; its standard error is ours."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str | None) -> None:
        """Prepare to start a process.

        Args:
            command: The program and its arguments.
            environment: Variables beside those of this process.
            folder: Where it runs; None: where this process runs.
        """
        self._command = command
        self._environment = environment
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._writing: Final = asyncio.Lock()

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Start the process."""
        environment = {**os.environ, **self._environment}
        program, *arguments = self._command
        self._process = await asyncio.create_subprocess_exec(
            shutil.which(program, path=environment.get("PATH")) or program,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            cwd=self._folder,
            limit=MAX_MESSAGE_BYTES,
        )
        self._reading = asyncio.create_task(self._read(self._process, deliver, ended))

    async def send(self, message: Message) -> None:
        """Write a line."""
        writer = self._process.stdin if self._process else None
        if writer is None:
            return
        async with self._writing:
            with suppress(ConnectionError, RuntimeError):
                writer.write(message.line + b"\n")
                await writer.drain()

    async def close(self, *, drain: bool = False) -> None:
        """End the process: close its input, then send signals."""
        process = self._process
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        await end_process(process)
        if self._reading:
            await self._reading

    async def _read(self, process: asyncio.subprocess.Process, deliver: Deliver, ended: Ended) -> None:
        assert process.stdout is not None
        reason = ""
        try:
            while line := await process.stdout.readline():
                await deliver(Message(line))
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
