"""An append-only audit log in a file: one JSON object a line (AACP section 8)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

from accp_core.aacp.audit import AuditRecord, read_record, write_record
from accp_core.errors import DecodeError

__all__ = ["AuditLog"]


class AuditLog:
    """A file of `AuditRecord` lines, to which any number of threads and processes may append."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file at `path`, which the first record creates for its owner only (mode 0600)."""
        self.path: Final = Path(path)
        self._lock: Final = threading.Lock()

    def append(self, record: AuditRecord) -> None:
        """Append a record, which is on the disk when this returns.

        A last line that a crash cut short gets a line end first, so that the record stands on a line of its own.

        Raises:
            OSError: the file cannot be written.
        """
        line = f"{write_record(record)}\n".encode()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with self._lock:
            file = os.open(self.path, flags, 0o600)
            try:
                # One write for each line, so that lines of several processes do not mix.
                os.write(file, line if _ends_with_newline(file) else b"\n" + line)
                os.fsync(file)
            finally:
                os.close(file)

    def read(self) -> tuple[list[AuditRecord], list[str]]:
        """Return all records in order, and the place and reason of each line that is not a record.

        Raises:
            OSError: the file cannot be read.
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


def _ends_with_newline(file: int) -> bool:
    """Return whether `file` is empty or ends with a line feed."""
    size = os.fstat(file).st_size
    if not size:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"
