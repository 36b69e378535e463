"""Counting the parts of artifacts: the same at both ends, and bounded."""

from __future__ import annotations

import pytest
from a2a.types import Artifact, Message, Part, Task, TaskArtifactUpdateEvent

from accp_adapters.a2a.wire.part_counter import PartCounter


def chunk(name: str, parts: int, *, append: bool = True) -> TaskArtifactUpdateEvent:
    """Return a chunk of so many parts."""
    artifact = Artifact(artifact_id=name, parts=[Part(text="x")] * parts)
    return TaskArtifactUpdateEvent(artifact=artifact, append=append)


def test_appended_parts_go_on_and_others_begin_anew() -> None:
    counter, firsts = PartCounter(), []
    for event in (
        chunk("a", 2, append=False),
        chunk("a", 1),
        chunk("b", 3),
        chunk("a", 1),
        chunk("a", 1, append=False),
        chunk("b", 1, append=False),
        chunk("a", 1),
    ):
        firsts.append(counter.start(event))
        counter.count(event)
    assert firsts == [(0, 0), (2, 0), (0, 0), (3, 0), (0, 1), (0, 2), (1, 1)]


def test_a_task_says_how_many_parts_there_are() -> None:
    counter = PartCounter()
    counter.count(chunk("gone", 5))
    counter.count(Task(artifacts=[Artifact(artifact_id="a", parts=[Part(text="x")] * 4)]))
    counter.count(Message())
    assert [counter.start(event).part for event in (chunk("a", 1), chunk("gone", 1), Message())] == [4, 0, 0]


def test_the_oldest_artifact_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.wire.part_counter.MAX_ARTIFACTS", 2)
    counter = PartCounter()
    for name in ("a", "b", "c"):
        counter.count(chunk(name, 1))
    assert [counter.start(chunk(name, 1)).part for name in ("a", "b", "c")] == [0, 1, 1]
