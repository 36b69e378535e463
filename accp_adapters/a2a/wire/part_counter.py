"""Where the next part of an artifact begins, at either end of one stream (ACCP section 10.4).

A2A has no chunk index. Both ends count the parts of each artifact by the events of the stream: a task sets the counts,
a chunk with `append` adds to the count, one without `append` starts the artifact again, as a stream of its own. Both
ends arrive at the same numbers, also on a stream that was joined late, unless an event was lost, repeated or reordered
between them.
"""

from __future__ import annotations

from typing import Final

from a2a.types import Task, TaskArtifactUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import A2aEvent
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart
from accp_core.bounded import BoundedDict

__all__ = ["PartCounter"]

MAX_ARTIFACTS: Final = 10_000
"""Artifacts of one stream that are counted; both ends forget the oldest one alike."""


class PartCounter:
    """The number of parts of each artifact of a stream."""

    def __init__(self) -> None:
        """Start with a stream that has sent nothing."""
        self._next: Final[BoundedDict[str, ChunkStart]] = BoundedDict(MAX_ARTIFACTS)
        # Restarts of all artifacts: a task that comes again resets the parts, but no restart occurs twice.
        self._restarts = 0

    def start(self, event: A2aEvent) -> ChunkStart:
        """Return where a chunk begins; `WHOLE` for any other event."""
        if not isinstance(event, TaskArtifactUpdateEvent):
            return WHOLE
        known = self._next.get(event.artifact.artifact_id)
        if known is None or event.append:
            return known or WHOLE
        return ChunkStart(restart=self._restarts + 1)

    def count(self, event: A2aEvent) -> None:
        """Count the parts of an event that was sent or received; a whole task replaces all counts."""
        if isinstance(event, Task):
            self._next.clear()
            for artifact in event.artifacts:
                self._next.put(artifact.artifact_id, ChunkStart(len(artifact.parts)))
        elif isinstance(event, TaskArtifactUpdateEvent):
            start = self.start(event)
            self._restarts = max(self._restarts, start.restart)
            parts = start.part + len(event.artifact.parts)
            self._next.put(event.artifact.artifact_id, ChunkStart(parts, start.restart))
