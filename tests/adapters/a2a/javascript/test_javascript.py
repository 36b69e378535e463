"""The JavaScript SDK at the other end: it notices nothing, unless it asks for frames."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from a2a.client import A2ACardResolver
from a2a.helpers import new_text_part
from a2a.types import StreamResponse, Task
from google.protobuf.json_format import MessageToDict, ParseDict
from httpx import AsyncClient

from accp_adapters.a2a import EXTENSION, decode
from tests.adapters.a2a.calls import ASKED, connect, request, told
from tests.adapters.a2a.serve import Served, always, plain, serve
from tests.adapters.a2a.test_peers import without_ids
from tests.limits import PATIENCE

HERE = Path(__file__).parent
SDK = "@a2a-js/sdk@1.3.0"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the SDK and the programs."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("there is no Node.js here")
    folder = tmp_path_factory.mktemp("javascript")
    (folder / "package.json").write_text("{}", encoding="utf-8")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--prefer-offline"]
    install = ["npm", "install", *options, "--prefix", str(folder), SDK]
    done = subprocess.run(install, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        pytest.skip(f"npm cannot fetch {SDK} here")
    for program in HERE.glob("*.mjs"):
        shutil.copy(program, folder)
    return folder


async def lines_of(programs: Path, served: Served, name: str, extension: str = "") -> list[Any]:
    """Return what a client in JavaScript was given: a task, and the events of a stream."""
    command = ["node", str(programs / "client.mjs"), served.url, name, extension]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.slow
async def test_a_client_that_does_not_ask_notices_nothing(programs: Path) -> None:
    results = []
    for wrap in (plain, always):
        async with serve(wrap) as served:
            results.append([without_ids(line) for line in await lines_of(programs, served, "several-js")])
            assert [seen.metadata["accp"] for seen in served.agent.seen] == [True, True]
    assert len(results[0]) > 2
    assert results[0] == results[1]


async def test_a_client_that_asks_is_given_frames_which_hold_the_plain_result(programs: Path) -> None:
    async with serve(plain) as served:
        expected = [without_ids(line) for line in await lines_of(programs, served, "several-js")]
    async with serve(always) as served:
        task, *events = await lines_of(programs, served, "several-js", EXTENSION)
    assert "@agent>" in str(task) and "@agent>" in str(events)
    decoded = [MessageToDict(decode(ParseDict(task, Task())))]
    for line in events:
        response = ParseDict(line, StreamResponse())
        event = getattr(response, str(response.WhichOneof("payload")))
        event.CopyFrom(decode(event))
        decoded.append(MessageToDict(response))
    assert [without_ids(each) for each in decoded] == expected


@asynccontextmanager
async def javascript_agent(programs: Path, *extension: str) -> AsyncIterator[tuple[str, asyncio.StreamReader]]:
    """Start an agent in JavaScript; yield its URL, and the lines of what it was sent."""
    command = ["node", str(programs / "server.mjs"), *extension]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode().strip(), process.stdout
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("extension", [(), ("urn:another",), (EXTENSION,)])
async def test_an_agent_in_javascript_is_called_as_without_us(programs: Path, extension: tuple[str, ...]) -> None:
    # An agent that declares frames and sends none is understood, too; a short message is no frame.
    parts = [new_text_part("hello")] if EXTENSION in extension else ASKED
    async with javascript_agent(programs, *extension) as (url, seen), AsyncClient(timeout=PATIENCE) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        results, received = [], []
        for aware in (False, True):
            async with await connect(card, aware=aware, never_larger=True) as client:
                results.append(without_ids(await told(client, request("m", *parts))))
            received.append(without_ids(json.loads(await asyncio.wait_for(seen.readline(), PATIENCE))))
    assert results[0] == results[1]
    assert results[0][0]["task"]["metadata"] == {"accp": True}
    assert received[0] == received[1]
