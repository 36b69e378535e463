"""`accp mcp` put into a client's file and taken out again: the backup, what is remembered, and the file itself.

The folder of our state holds two files for each configuration file: its backup, and a record of the entries as they
were. They hold what the configuration holds, keys among it, and are for the user only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from accp_adapters.mcp.clients.changes import Change, Original, Wrapped, unwrap_text, wrap_text
from accp_adapters.mcp.clients.difference import difference
from accp_adapters.mcp.clients.entries import EntryPlace, entries
from accp_adapters.mcp.clients.files import decode, replace_file

__all__ = ["Installation", "installed_files"]

_FOLDER = "mcp-clients"


@dataclass(frozen=True, slots=True)
class _Record:
    """What is remembered of a file."""

    path: str
    originals: Sequence[Original]


@dataclass(frozen=True, slots=True)
class Installation:
    """One configuration file, and our files about it."""

    path: Path
    """The configuration file."""
    state: Path
    """The folder of our state."""

    @property
    def backup(self) -> Path:
        """The file that holds the configuration as it is without us."""
        return self._own_file(".backup")

    def install(
        self, command: str, *, names: Collection[str] = (), options: Sequence[str] = (), dry_run: bool = False
    ) -> Sequence[Change]:
        """Put `command` before the servers of the file.

        Args:
            command: The path of this program.
            names: The servers; empty: all.
            options: Options of `accp mcp`, such as "--fetch"; those without a value last.
            dry_run: Whether nothing is written.

        Returns:
            What became of each server.

        Raises:
            DecodeError: E1001, the file is not understood; it is untouched.
            OSError: A file cannot be read or written.
        """
        content = self.path.read_bytes()
        text, record = decode(content), self._record()
        # Without what an earlier call wrapped: the backup is what uninstalling has to give.
        bare, before = unwrap_text(text, record.originals) if record else (text, [])
        again: set[EntryPlace] = {change.place for change in before if change.outcome == "unwrapped"}
        wrapped = wrap_text(bare, command, names=names, options=options, named=again)
        if not dry_run and wrapped.text != text:
            replace_file(self.backup, bare.encode())
            self._remember(_Record(str(self.path), wrapped.originals))
            replace_file(self.path, wrapped.text.encode(), expected=content)
        changes = [_once_more(change, text, wrapped) if change.place in again else change for change in wrapped.changes]
        return _with_differences(changes, text, wrapped.text)

    def uninstall(self, *, names: Collection[str] = (), dry_run: bool = False) -> tuple[Sequence[Change], bool]:
        """Take our words out of the file.

        Args:
            names: The servers; empty: all.
            dry_run: Whether nothing is written.

        Returns:
            What became of each wrapped server, and whether the file is its backup again, byte for byte.

        Raises:
            DecodeError: E1001, the file is not understood; it is untouched.
            OSError: A file cannot be read or written.
        """
        content, record = self.path.read_bytes(), self._record()
        text = decode(content)
        bare, changes = unwrap_text(text, record.originals if record else (), names=names)
        new = bare.encode()
        is_restored = bool(changes) and self.backup.is_file() and new == self.backup.read_bytes()
        if not dry_run and new != content:
            replace_file(self.path, new, expected=content)
        if not dry_run and record:
            self._forget(record, changes)
        return _with_differences(changes, text, bare), is_restored

    def _forget(self, record: _Record, changes: Sequence[Change]) -> None:
        gone = {change.place for change in changes if change.outcome == "unwrapped"}
        if rest := [original for original in record.originals if original.place not in gone]:
            self._remember(_Record(record.path, rest))
            return
        self._own_file(".json").unlink(missing_ok=True)
        self.backup.unlink(missing_ok=True)

    def _own_file(self, suffix: str) -> Path:
        return self.state / _FOLDER / (sha256(str(self.path.resolve()).encode()).hexdigest()[:16] + suffix)

    def _remember(self, record: _Record) -> None:
        replace_file(self._own_file(".json"), json.dumps(asdict(record), indent=1).encode())

    def _record(self) -> _Record | None:
        return _read_record(self._own_file(".json"))


def installed_files(state: Path) -> list[Path]:
    """Return the configuration files in which something is wrapped, as far as this state remembers."""
    records = map(_read_record, sorted((state / _FOLDER).glob("*.json")))
    return [Path(record.path) for record in records if record]


def _read_record(path: Path) -> _Record | None:
    """Return a record; None if there is none that can be read, so that our words are found by their form."""
    try:
        data = json.loads(path.read_bytes())
        originals = [Original(tuple(each["place"]), each["text"], each["written"]) for each in data["originals"]]
        return _Record(data["path"], originals)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _with_differences(changes: Sequence[Change], before: str, after: str) -> list[Change]:
    old, new = ({entry.place: entry.node.value for entry in entries(text)} for text in (before, after))
    return [replace(each, difference=difference(old[each.place], new[each.place])) for each in changes]


def _once_more(change: Change, before: str, after: Wrapped) -> Change:
    """Return what became of a server that had our words before."""
    if change.outcome != "wrapped":
        return change
    old = next(entry.node.value for entry in entries(before) if entry.place == change.place)
    new = next(original.written for original in after.originals if original.place == change.place)
    if old == new:
        return Change(change.place, "unchanged", "it already starts accp mcp")
    return Change(change.place, "rewritten", "it started accp mcp by other words")
