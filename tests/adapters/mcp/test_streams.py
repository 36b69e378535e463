"""What the shells do that no SDK shows: imports, streams that carry more than messages, transports that give more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from accp_adapters.mcp import Decoder, wrap_transport
from accp_adapters.mcp.streams import message_of, rewrite_item
from tests.adapters.mcp.messages import Json
from tests.test_imports import loaded_by


def test_importing_the_adapter_loads_no_sdk() -> None:
    heavy = {
        "mcp",
        "mcp_types",
        "fastmcp",
        "langchain",
        "langchain_core",
        "langgraph",
        "anyio",
        "pydantic",
        "jsonschema",
    }
    assert not loaded_by("accp_adapters.mcp") & heavy


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid")
    jsonrpc: str = "2.0"
    id: int
    result: Json


@dataclass
class Item:
    message: Any
    metadata: str = "kept"


async def test_an_item_without_a_message_passes() -> None:
    for item in (OSError("closed"), Item(None), "text"):
        assert message_of(item) is None
        assert await rewrite_item(lambda message: {}, item) is item


async def test_a_message_that_the_sdk_has_no_model_for_passes_as_it_came() -> None:
    item = Item(Message(id=1, result={}))
    assert await rewrite_item(lambda message: {**message, "more": 1}, item) is item
    changed = await rewrite_item(lambda message: {**message, "result": {"a": 1}}, item)
    assert changed == replace(item, message=Message(id=1, result={"a": 1}))


class Stream:
    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.sent: list[Any] = []
        self.closed = 0

    async def receive(self) -> Any:
        return self.items.pop(0)

    async def __anext__(self) -> Any:
        if not self.items:
            raise StopAsyncIteration
        return self.items.pop(0)

    async def send(self, item: Any) -> None:
        self.sent.append(item)

    async def aclose(self) -> None:
        self.closed += 1

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.aclose()


async def test_a_transport_keeps_what_else_it_gives_and_its_streams_what_else_they_can() -> None:
    reading, writing = Stream(Item(None), Item(None), Item(None)), Stream()

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        yield reading, writing, "session id"

    async with wrap_transport(transport(), Decoder()) as (read_stream, write_stream, more):
        assert more == "session id"
        assert (await read_stream.receive()).message is None
        assert [item.message async for item in read_stream] == [None, None]
        await write_stream.send("text")
        assert read_stream.items == []
        async with write_stream as entered:
            assert entered is write_stream
        await read_stream.aclose()
    assert writing.sent == ["text"]
    assert (reading.closed, writing.closed) == (1, 1)


def test_a_decoder_shows_one_of_three() -> None:
    with pytest.raises(ValueError, match="expected 'view' to be one of 'plain', 'frame', 'view', found 'nonsense'"):
        Decoder(view="nonsense")  # type: ignore[arg-type]  # that is the point
