"""Binding B, standard input and output: one JSON object per line (ACP transport 0.3, section 4)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from anyio.abc import ByteStream, Process
from anyio.streams.stapled import StapledByteStream

from accp_adapters.bindings.acp.lines import LineChannel
from accp_adapters.bindings.acp.sessions.channel import ChannelClosed
from accp_adapters.bindings.acp.sessions.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.sessions.limits import DEFAULT_ACP_LIMITS, AcpLimits
from accp_adapters.bindings.identity import ANONYMOUS, loopback_only
from accp_adapters.serving.processes import end_process
from accp_core.acp import Binding

__all__ = ["open_process", "serve_stdio"]

_CHUNK: Final = 65_536


async def serve_stdio(agent: AcpAgent | AcpHost, *, limits: AcpLimits = DEFAULT_ACP_LIMITS) -> ChannelClosed:
    """Serve an agent to the process that started this one, until the input ends; return why it ended.

    What the peer has said is answered before. Nothing else may write to standard output meanwhile: `print` and the like
    go to standard error from now on.
    """
    streams = _StandardStreams()
    channel = LineChannel(streams, binding=Binding.STDIO, limit=limits.message_bytes)
    host = host_of(agent, loopback_only, limits)
    host.announce(Binding.STDIO)
    return await host.serve(channel, ANONYMOUS)


async def open_process(command: Sequence[str], *, limit: int) -> LineChannel:
    """Return a connection to a new process that runs `command`; its standard error is ours.

    Args:
        command: The program and its arguments; no shell reads them.
        limit: Bytes of a line.

    Raises:
        OSError: It cannot be started.
    """
    process = await anyio.open_process(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None)
    assert process.stdin is not None
    assert process.stdout is not None
    stream = _ProcessStream(process.stdin, process.stdout, process)
    return LineChannel(stream, binding=Binding.STDIO, limit=limit)


class _StandardStreams(ByteStream):
    """Standard input and output of this process, as bytes."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._output = os.dup(sys.stdout.fileno())
        sys.stdout.flush()
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    async def receive(self, max_bytes: int = _CHUNK) -> bytes:
        data = await anyio.to_thread.run_sync(os.read, self._input, max_bytes, abandon_on_cancel=True)
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        await anyio.to_thread.run_sync(self._write, item, abandon_on_cancel=True)

    async def send_eof(self) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the output; the input belongs to the process."""
        output, self._output = self._output, -1
        if output >= 0:
            os.dup2(output, sys.stdout.fileno())
            os.close(output)

    def _write(self, item: bytes) -> None:
        while item:
            item = item[os.write(self._output, item) :]


@dataclass(eq=False)
class _ProcessStream(StapledByteStream):
    """The standard streams of a process of ours, which ends with them."""

    process: Process

    async def aclose(self) -> None:
        """Close the input of the process, and end it if it does not end by itself."""
        with anyio.CancelScope(shield=True):
            await self.send_eof()
            await end_process(self.process)
            await self.process.aclose()
