"""Which index the next part of an artifact has, at either end of one stream (ACCP section 10.4).

A2A has no chunk index. Both ends count the parts of each artifact by the events of the stream: a task sets the counts,
a chunk with `append` adds to the count, one without `append` starts the artifact again. Both ends arrive at the same
number, also on a stream that was joined late, unless an event was lost, repeated or reordered between them.
"""

from __future__ import annotations

from typing import Final

from a2a.types import Task, TaskArtifactUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import A2aEvent
from accp_core.bounded import BoundedDict

__all__ = ["PartCounter"]

MAX_ARTIFACTS: Final = 10_000
"""Artifacts of one stream that are counted; both ends forget the oldest one alike."""


class PartCounter:
    """The number of parts of each artifact of a stream."""

    def __init__(self) -> None:
        """Start with a stream that has sent nothing."""
        self._counts: Final[BoundedDict[str, int]] = BoundedDict(MAX_ARTIFACTS)

    def first_index(self, event: A2aEvent) -> int:
        """Return the index of the first part of a chunk; 0 for any other event."""
        if not isinstance(event, TaskArtifactUpdateEvent) or not event.append:
            return 0
        return self._counts.get(event.artifact.artifact_id, 0)

    def count(self, event: A2aEvent) -> None:
        """Count the parts of an event that was sent or received; a whole task replaces all counts."""
        if isinstance(event, Task):
            self._counts.clear()
            for artifact in event.artifacts:
                self._counts.put(artifact.artifact_id, len(artifact.parts))
        elif isinstance(event, TaskArtifactUpdateEvent):
            self._counts.put(event.artifact.artifact_id, self.first_index(event) + len(event.artifact.parts))
