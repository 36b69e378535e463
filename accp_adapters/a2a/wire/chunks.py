"""Which index the next part of an artifact has, at either end of one stream (ACCP section 10.4).

A2A has no chunk index. Both ends count the parts of each artifact by the events of the stream: a task sets the count,
`append` goes on from it, a chunk without `append` begins the artifact anew. So both come to the same number, also on a
stream that began in the middle, unless an event between them was lost, repeated or moved.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from a2a.types import Task, TaskArtifactUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import Event

__all__ = ["Chunks"]

_MOST: Final = 10_000
"""Artifacts of one stream that are counted; the oldest is forgotten, at both ends alike."""


class Chunks:
    """The number of parts of each artifact of a stream."""

    def __init__(self) -> None:
        """Begin with a stream that has sent nothing."""
        self._counts: OrderedDict[str, int] = OrderedDict()

    def first(self, event: Event) -> int:
        """Return the index of the first part of a chunk; 0 for any other event."""
        if not isinstance(event, TaskArtifactUpdateEvent) or not event.append:
            return 0
        return self._counts.get(event.artifact.artifact_id, 0)

    def add(self, event: Event) -> None:
        """Take note of an event that passed."""
        if isinstance(event, Task):
            self._counts = OrderedDict((each.artifact_id, len(each.parts)) for each in event.artifacts)
        elif isinstance(event, TaskArtifactUpdateEvent):
            self._counts[event.artifact.artifact_id] = self.first(event) + len(event.artifact.parts)
        while len(self._counts) > _MOST:
            self._counts.popitem(last=False)
