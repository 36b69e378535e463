"""An append-only audit log: one JSON object a line (AACP section 8)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

from accp_core.aacp.audit import AuditRecord, read_record, write_record
from accp_core.errors import DecodeError

__all__ = ["AuditLog"]


class AuditLog:
    """A file of `AuditRecord` lines that threads and processes may add to."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file at `path`; it is made at the first record, for its owner only (mode 0600)."""
        self.path: Final = Path(path)
        self._lock: Final = threading.Lock()

    def append(self, record: AuditRecord) -> None:
        """Add a record; it is on the disk when this returns.

        A line that a crash cut short stays as it is and is ended first, so that it takes no record with it.

        Raises: OSError.
        """
        line = f"{write_record(record)}\n".encode()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with self._lock:
            file = os.open(self.path, flags, 0o600)
            try:
                # One write for one line: lines of several processes do not mix.
                os.write(file, line if ends_well(file) else b"\n" + line)
                os.fsync(file)
            finally:
                os.close(file)

    def read(self) -> tuple[list[AuditRecord], list[str]]:
        """Return all records in order, and place and reason of each line that is none.

        Raises: OSError.
        """
        records, refused = [], []
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines, 1):
            try:
                if line:
                    records.append(read_record(line))
            except DecodeError as error:
                refused.append(f"{self.path}:{number}: {error.reason}")
        return records, refused


def ends_well(file: int) -> bool:
    """Return whether the file is empty or ends with a line end."""
    size = os.fstat(file).st_size
    if not size:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"
