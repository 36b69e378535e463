"""Clients and servers of the installed SDK, joined by streams in memory, with a record of what went through them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

import anyio
from mcp.shared.memory import create_client_server_memory_streams

from accp_adapters.mcp.sdk import RewritingReadStream, RewritingWriteStream, message_of

MAJOR = int(metadata.version("mcp").split(".")[0])
ROWS = [{"sku": f"A-{n}", "name": f"part {n}", "price": n + 0.5, "left": None} for n in range(20)]


def lowlevel(server: Any) -> Any:
    """Return the server that has a `run`."""
    return getattr(server, "_lowlevel_server", None) or getattr(server, "_mcp_server", None) or server


def plain(result: Any) -> Any:
    """Return a result as JSON."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


@asynccontextmanager
async def connected(server: Any, record: list[str] | None = None) -> AsyncIterator[Any]:
    """Run `server` and give the streams of its client; what passes is noted in `record`."""
    actual = lowlevel(server)
    async with (
        create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(actual.run, server_read, server_write, actual.create_initialization_options())
        yield (read, write) if record is None else (_noting(read, record), _noting_sent(write, record))
        await write.aclose()
        await server_write.aclose()
        tasks.cancel_scope.cancel()


def _note(item: Any, record: list[str]) -> Any:
    model = item.message
    record.append(json.dumps(model.model_dump(by_alias=True, mode="json", exclude_unset=True), sort_keys=True))
    assert message_of(item) is not None
    return item


def _noting(stream: Any, record: list[str]) -> RewritingReadStream:
    async def note(item: Any) -> Any:
        return _note(item, record)

    return RewritingReadStream(stream, note)


def _noting_sent(stream: Any, record: list[str]) -> RewritingWriteStream:
    async def note(item: Any) -> Any:
        return _note(item, record)

    return RewritingWriteStream(stream, note)
