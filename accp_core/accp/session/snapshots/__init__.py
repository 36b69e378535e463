"""A session as data: written in one process, read in another one (ACCP section 3.7; the form is ours)."""

from accp_core.accp.session.snapshots.shapes import Reading
from accp_core.accp.session.snapshots.snapshot import MAX_SNAPSHOT_BYTES, Snapshot, read_snapshot, write_snapshot

__all__ = ["MAX_SNAPSHOT_BYTES", "Reading", "Snapshot", "read_snapshot", "write_snapshot"]
