"""What an earlier version stored, this one opens: a folder of files for each version.

No version is released yet: when the notation of views changed, the views in these files were written anew. After a
release nobody changes its files, and `ACCP_WRITE_FORMATS=1 pytest tests/formats` adds those of the new version.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import redis
from langchain_core.messages import ToolMessage, messages_from_dict
from langgraph.store.memory import InMemoryStore

from accp_adapters.langgraph import StoreColdStore, restore_message
from accp_adapters.stores import RedisColdStore, SqliteColdStore, SqliteInstructionRegistry
from accp_core.errors import DecodeError, ProtocolError
from tests.formats.formats import FORMATS

FOLDER = Path(__file__).parent
VERSION = ".".join(version("accp-middleware").split(".")[:2])
VERSIONS = sorted(path.name for path in FOLDER.iterdir() if path.name[0].isdecimal())
SERVERS = {"cold store, Redis": "redis_url", "cold store, PostgreSQL": "postgres_url"}


@pytest.fixture
def server(request: pytest.FixtureRequest, name: str) -> list[str]:
    """Return the address of the server that a format needs, or nothing."""
    return [request.getfixturevalue(SERVERS[name])] if name in SERVERS else []


@pytest.mark.skipif("ACCP_WRITE_FORMATS" not in os.environ, reason="adds the files of a new version")
@pytest.mark.parametrize("name", FORMATS)
def test_write(name: str, server: list[str]) -> None:
    path = FOLDER / VERSION / FORMATS[name].file
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        FORMATS[name].write(path, *server if "PostgreSQL" not in name else [])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("stored_by", VERSIONS)
def test_what_a_version_stored_is_opened(stored_by: str, name: str, server: list[str], tmp_path: Path) -> None:
    shutil.copytree(FOLDER / stored_by, tmp_path, dirs_exist_ok=True)
    FORMATS[name].check(tmp_path / FORMATS[name].file, *server)


def test_every_version_has_every_format() -> None:
    assert VERSION in VERSIONS
    for name in ("0.1", VERSION):
        assert {each.file for each in FORMATS.values()} <= {path.name for path in (FOLDER / name).iterdir()}


OPENERS: dict[str, Callable[[Path], object]] = {
    "cold.sqlite": SqliteColdStore,
    "instructions.sqlite": SqliteInstructionRegistry,
}


def of_later_version(name: str, folder: Path) -> Path:
    path = Path(shutil.copy(FOLDER / "0.1" / name, folder))
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        connection.execute("PRAGMA user_version=2")
    connection.close()
    return path


@pytest.mark.parametrize("name", OPENERS)
def test_a_database_of_a_later_version_is_refused_and_stays_as_it_is(name: str, tmp_path: Path) -> None:
    path = of_later_version(name, tmp_path)
    for _ in range(2):
        with pytest.raises(sqlite3.DatabaseError, match="expected a file of version 1 or lower, found 2"):
            OPENERS[name](path)


def test_messages_in_another_notation_are_refused_by_its_version_and_stay_as_they_are() -> None:
    stored = (FOLDER / "messages_of_the_first_notation.json").read_text(encoding="utf-8")
    messages = messages_from_dict(json.loads(stored))
    (message,) = [message for message in messages if "layout" in str(message.additional_kwargs)]
    assert isinstance(message, ToolMessage)
    with pytest.raises(DecodeError, match="E1001: expected a view in the notation 'v4', found 'j2:490'"):
        restore_message(message)
    assert messages == messages_from_dict(json.loads(stored))


def test_a_text_of_a_later_version_is_refused_and_stays_as_it_is() -> None:
    base = InMemoryStore()
    store = StoreColdStore(base)
    store.put("s", "key", "rows")
    (item,) = base.search(("accp",))
    assert item.value == {"text": '"rows"', "version": 1, "short_key": "key"}
    later = {"text": '"rows"', "version": 2}
    base.put(item.namespace, item.key, later)
    with pytest.raises(ProtocolError, match=r"E2001: expected an item of version 1 or lower \(its version is 2\)"):
        store.get("s", "key")
    assert base.search(("accp",))[0].value == later


def test_a_text_of_a_later_version_in_redis_is_refused(redis_url: str) -> None:
    """All texts of 0.1 begin with the first byte of zlib; a later format has another one."""
    store = RedisColdStore(redis_url, namespace="formats")
    store.put("later", "key", "rows")
    with redis.Redis.from_url(redis_url) as client:
        packed: Any = client.hget("formats:later", "key")
        assert packed[:1] == b"x"
        client.hset("formats:later", "key", b"\x02" + packed)
        with pytest.raises(ProtocolError, match="E2001: expected a stored text, found other bytes"):
            store.get("later", "key")
        assert client.hget("formats:later", "key") == b"\x02" + packed
    store.purge("later")
    store.close()
