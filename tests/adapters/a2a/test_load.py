"""A hundred streams at once: each complete, in order, and nobody else's."""

from __future__ import annotations

import asyncio

import pytest
from a2a.client import Client
from a2a.helpers import new_text_part
from google.protobuf.json_format import MessageToDict

from tests.adapters.a2a.calls import Recorder, connect, request
from tests.adapters.a2a.serve import always, serve

STREAMS = 100


async def rows_of(client: Client, number: int) -> list[tuple[str, int, int]]:
    """Return the rows of one stream as they come: whose, which, and how many cells."""
    rows = []
    async for event in client.send_message(request(f"load-{number}", new_text_part(f"job {number}"))):
        if event.HasField("artifact_update"):
            (part,) = event.artifact_update.artifact.parts
            row = MessageToDict(part.data)
            rows.append((row["job"], int(row["row"]), len(row["cells"])))
    return rows


@pytest.mark.slow
async def test_a_hundred_streams_at_once_are_complete_and_in_order() -> None:
    async with (
        serve(always) as served,
        Recorder() as http,
        await connect(served.card, streaming=True, http=http) as client,
    ):
        streams = await asyncio.gather(*(rows_of(client, number) for number in range(STREAMS)))
    for number, rows in enumerate(streams):
        assert rows == [(f"job {number}", row, 8) for row in range(8)]
    assert sum(body.count("@agent>stream:task{idx:") for body in http.answered) == STREAMS * 8
