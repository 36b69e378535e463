"""Servers that others wrote: behind us, and behind a decoder before an encoder, they say what they say alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from tests.adapters.mcp.real_servers.registries import Missing
from tests.adapters.mcp.real_servers.servers import SERVERS, RealServer, World, conversation
from tests.adapters.mcp.serving import serving
from tests.adapters.mcp.transcripts import ACCP, NEGOTIATE, converse, meaning

PAGE = "<html><body><h1>Sales</h1><p>Revenue grew in all regions.</p></body></html>"


async def page(scope: Any, receive: Any, send: Any) -> None:
    """Serve one page, and nothing else."""
    found = scope["path"] == "/"
    headers = [(b"content-type", b"text/html")]
    await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE.encode() if found else b""})


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "world" / "memory.jsonl"))
    with serving(page) as origin:
        yield World(tmp_path / "world", f"{origin}/")


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_a_server_says_through_us_what_it_says_alone_and_a_host_is_shown_no_more(
    server: RealServer, world: World
) -> None:
    try:
        command = server.command(world)
    except Missing as missing:
        pytest.skip(f"the server {server.name!r} is not here: {missing}")
    lines = conversation(server.calls(world))
    fronts = ([], [*NEGOTIATE, "--"], [*ACCP, "--"])
    alone, behind, shown = (talk(world, [*front, *command], lines) for front in fronts)
    assert len(alone) > len(server.calls(world)) + 2
    assert [meaning(line) for line in behind[:-1]] == [meaning(line) for line in alone[:-1]]
    for before, after in zip(results(alone), results(shown), strict=True):
        assert after.get("structuredContent") == before.get("structuredContent")
        assert len(after["content"]) == len(before["content"])
        assert o200k_base()(texts_of(after)) <= o200k_base()(texts_of(before))


def talk(world: World, command: list[str], lines: list[bytes]) -> list[bytes]:
    """Return what `command` says to `lines` in a world made anew."""
    world.make()
    return converse(command, lines)


def results(lines: list[bytes]) -> list[Any]:
    """Return the results of the tools among `lines`."""
    found = [message.get("result", {}) for message in map(meaning, lines) if isinstance(message, dict)]
    return [result for result in found if "content" in result]


def texts_of(result: Any) -> str:
    """Return the texts that a model reads of a result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
