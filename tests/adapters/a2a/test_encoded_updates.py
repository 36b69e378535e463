"""What a server keeps of the updates that it encoded: bounded by memory, not by the bytes of protobuf."""

from __future__ import annotations

from unittest.mock import Mock

from a2a.helpers import new_text_part
from a2a.server.context import ServerCallContext
from a2a.types import Artifact, Part, TaskArtifactUpdateEvent

from accp_adapters.a2a import AccpRequestHandler
from accp_adapters.a2a.server import MAX_ENCODED_BYTES
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart


async def test_small_updates_count_with_the_memory_of_their_objects() -> None:
    handler = AccpRequestHandler(Mock())
    for number in range(40):
        artifact = Artifact(artifact_id="a", parts=[new_text_part(str(number))])
        event = TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact)
        await handler._encode_once(event, ServerCallContext(), ChunkStart(number))
    # A task of eight updates, each of them and its encoding with a task of asyncio, measured 80 KB.
    assert handler._encoded.size >= 40 * 8_000
    assert MAX_ENCODED_BYTES // 8_000 < 2_500


async def test_a_file_counts_with_its_bytes_and_a_large_one_is_not_kept() -> None:
    handler = AccpRequestHandler(Mock())
    for size in (1_000_000, MAX_ENCODED_BYTES):
        artifact = Artifact(artifact_id="a", parts=[Part(raw=b"x" * size)])
        event = TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact)
        assert await handler._encode_once(event, ServerCallContext(), WHOLE) is event
        assert 1_000_000 < handler._encoded.size < MAX_ENCODED_BYTES
