"""The link to a server that is a child process and talks over its standard streams."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from accp_adapters.mcp.links.link import Deliver, Ended
from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES
from accp_adapters.serving.bodies import ByteBudget, ByteLease, Leases, weight_of
from accp_adapters.serving.processes import end_process
from accp_adapters.serving.response_bodies import too_long
from accp_core.errors import ProtocolError

__all__ = ["ProcessLink"]

_CHUNK: Final = 256 * 1024
"""Bytes that are read at once."""
_AT_ONCE: Final = 4
"""Messages of the greatest length that are in memory at once."""


class ProcessLink:
    """A child process; its standard error is ours."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: str | None,
        leases: Leases | None = None,
    ) -> None:
        """Prepare to start a process.

        Args:
            command: The program and its arguments.
            environment: Variables beside those of this process.
            folder: Where it runs; None: where this process runs.
            leases: The bytes that a message of its may take; None: as many as a few of the longest.
        """
        self._command = command
        self._environment = environment
        self._folder = folder
        self._leases = leases or ByteBudget(_AT_ONCE * MAX_MESSAGE_BYTES).lease
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
            with self._leases() as lease:
                async for line in _lines(process.stdout, lease):
                    await deliver(Message(line))
        except ProtocolError as error:
            reason = f"it wrote a line that is too long: {error}"
            process.kill()
        code = await process.wait()
        ended(reason or _describe(code))


async def _lines(stream: asyncio.StreamReader, lease: ByteLease) -> AsyncIterator[bytes]:
    """Yield the lines of a server, whose bytes `lease` holds until the next one is asked for.

    Raises:
        ProtocolError: E2003, there is no memory for a line.
    """
    rest = bytearray()
    while chunk := await stream.read(_CHUNK):
        *ended, tail = chunk.split(b"\n")
        for piece in ended:
            rest += piece
            if not lease.resize(await weight_of(rest)):
                raise too_long(MAX_MESSAGE_BYTES)
            line = bytes(rest)
            rest.clear()
            yield line
        rest += tail
        if len(rest) > MAX_MESSAGE_BYTES or not lease.resize(len(rest)):
            raise too_long(MAX_MESSAGE_BYTES)
    if rest:
        yield bytes(rest)


def _describe(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    with suppress(ValueError):
        return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process was ended by signal {-code}"
