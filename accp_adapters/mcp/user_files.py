"""What `accp mcp` keeps for its user between processes: texts that previews cite, for a day, and what was saved."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from accp_adapters.stores import SqliteColdStore

__all__ = ["DayStore", "Saved", "add_saved", "add_wrapped", "read_saved", "state_folder", "wrapped_files"]

_DAY: Final = 86_400
_BUSY_SECONDS: Final = 5.0
_WRAPPED: Final = "wrapped"
_TABLE: Final = """CREATE TABLE IF NOT EXISTS saved (
    server TEXT PRIMARY KEY, results INTEGER, before INTEGER, after INTEGER, faults INTEGER
)"""
_ADD: Final = """INSERT INTO saved VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    results = results + excluded.results, before = before + excluded.before,
    after = after + excluded.after, faults = faults + excluded.faults"""


def state_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return the folder of our own files: `ACCP_STATE_DIR`, or `accp` where programs keep the user's state."""
    if given := environment.get("ACCP_STATE_DIR"):
        return Path(given)
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "accp"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "accp"
    return Path(environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "accp"


@dataclass(slots=True)
class DayStore:
    """A `ColdStore` in private SQLite files, one for each day; a text can be read for a day at least, two at most.

    A host that opens a session for each call can so open in one process what another one cited.
    """

    folder: Path
    now: Callable[[], float] = time.time
    _open: dict[int, SqliteColdStore] = field(default_factory=dict)

    def put(self, session_id: str, key: str, text: str) -> None:
        """Store `text` under `key` of `session_id`.

        Raises:
            OSError, sqlite3.Error: The file cannot be written.
        """
        self._of(self._days()[0]).put(session_id, key, text)

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text under `key` of `session_id`, None where there is none."""
        found = (self._of(day).get(session_id, key) for day in self._days())
        return next((text for text in found if text is not None), None)

    def find(self, session_id: str, beginning: str) -> list[str]:
        """Return the keys of `session_id` that begin so."""
        return sorted({key for day in self._days() for key in self._of(day).find(session_id, beginning)})

    def delete(self, session_id: str, key: str) -> None:
        """Delete the text under `key` of `session_id`."""
        for day in self._days():
            self._of(day).delete(session_id, key)

    def purge(self, session_id: str) -> int:
        """Delete all texts of `session_id`; return their number."""
        return sum(self._of(day).purge(session_id) for day in self._days())

    def _days(self) -> tuple[int, int]:
        """Return today and yesterday, in days of the Unix epoch."""
        return (today := int(self.now() // _DAY)), today - 1

    def _of(self, day: int) -> SqliteColdStore:
        if day not in self._open:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._delete_before(self._days()[1])
            self._open[day] = SqliteColdStore(self.folder / f"texts-{day}.sqlite")
        return self._open[day]

    def _delete_before(self, day: int) -> None:
        for path in self.folder.glob("texts-*.sqlite*"):
            number = path.name.removeprefix("texts-").partition(".")[0]
            if number.isdecimal() and int(number) < day:
                path.unlink(missing_ok=True)


class Saved(NamedTuple):
    """What rewriting did to the results of one server."""

    results: int = 0
    """How many were rewritten."""
    before: int = 0
    """Their tokens as the server sent them."""
    after: int = 0
    """Their tokens as the client got them."""
    faults: int = 0
    """Messages that passed as they were because of a fault of ours."""

    def describe(self) -> str:
        """Return it in words: "9 results rewritten: 4,512 tokens became 2,310 (48.8 % less)"."""
        share = f" ({100 * (self.before - self.after) / self.before:.1f} % less)" if self.before else ""
        faults = f"; {self.faults:,} messages passed as they were after a fault" if self.faults else ""
        results = f"{self.results:,} result{'s' * (self.results != 1)}"
        return f"{results} rewritten: {self.before:,} tokens became {self.after:,}{share}{faults}"


def add_saved(folder: Path, server: str, saved: Saved) -> None:
    """Add to what was saved for a server; several processes may do so at once.

    Raises:
        OSError, sqlite3.Error: The file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with closing(sqlite3.connect(_record(folder), timeout=_BUSY_SECONDS)) as connection, connection:
        connection.execute(_TABLE)
        connection.execute(_ADD, (server, *saved))


def read_saved(folder: Path) -> dict[str, Saved]:
    """Return what was saved so far, by server.

    Raises:
        sqlite3.Error: The file is not one of ours.
    """
    if not _record(folder).is_file():
        return {}
    with closing(sqlite3.connect(_record(folder), timeout=_BUSY_SECONDS)) as connection:
        return {server: Saved(*numbers) for server, *numbers in connection.execute("SELECT * FROM saved ORDER BY 1")}


def add_wrapped(folder: Path, path: Path) -> None:
    """Remember a configuration file in which servers were wrapped."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / _WRAPPED).write_text("\n".join(sorted({*map(str, wrapped_files(folder)), str(path)})), "utf-8")


def wrapped_files(folder: Path) -> list[Path]:
    """Return the remembered configuration files that are still there."""
    record = folder / _WRAPPED
    paths = map(Path, record.read_text("utf-8").splitlines() if record.is_file() else ())
    return [path for path in paths if path.is_file()]


def _record(folder: Path) -> Path:
    return folder / "saved.sqlite"
