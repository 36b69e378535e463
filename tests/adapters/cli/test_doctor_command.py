"""`accp doctor` against real servers, and against what is missing; the next step of each problem, no password."""

from __future__ import annotations

import sqlite3
import sys
from importlib import metadata
from pathlib import Path

import pytest
import redis
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.cli.checks import counting, installation, stores
from accp_adapters.stores import SqliteColdStore

runner = CliRunner()


def test_a_whole_installation_has_no_problem(tmp_path: Path) -> None:
    result = runner.invoke(app, ["doctor", f"sqlite:{tmp_path / 'new.sqlite'}"])
    assert result.exit_code == 0, result.output
    for expected in ("ok      accp-middleware: ", "ok      extra cli: ", "not there yet", "no problem"):
        assert expected in result.stdout
    assert "ok      policy default: 6,871 → " in result.stdout
    assert "ok      counter o200k_base: 23 tokens" in result.stdout
    assert not (tmp_path / "new.sqlite").exists(), "looking does not make a file"


def test_each_problem_has_a_next_step_and_the_command_ends_with_1(tmp_path: Path) -> None:
    addresses = ["redis://bob:hunter22@127.0.0.1:1/0?token=abc", "foo://bob:hunter22@host", "sqlite:/none/there/x"]
    result = runner.invoke(app, ["doctor", *addresses, "--tokenizer", str(tmp_path / "none.json")])
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    problems = [at for at, line in enumerate(lines) if line.startswith("PROBLEM")]
    assert len(problems) == 4
    assert all(lines[at + 1].startswith("        next: ") for at in problems)
    assert lines[-1] == "4 problems"
    for hidden in ("hunter22", "bob", "abc"):
        assert hidden not in result.output


@pytest.mark.parametrize(
    "address",
    [
        "redis://:s3cret/PW@localhost:1",
        "redis:bob:s3cretPW@h",
        "redis://bob:s3cret?PW@localhost:1/0",
        "redis://bob:s3cret#PW@localhost:1/0",
        "redis://bob:s3cretPW@[::1",
        "nats://bob:s3cret@PW@localhost:1,nats://bob:s3cretPW@localhost:2",
        "postgresql://bob:s3cr et#PW@localhost:1/db",
        "postgresql://bob:s3cr%20et@localhost:1/db?sslmode=s3cret",
    ],
)
def test_no_part_of_a_password_is_shown_and_a_bad_address_does_not_end_the_others(address: str, tmp_path: Path) -> None:
    result = runner.invoke(app, ["doctor", address, f"sqlite:{tmp_path / 'new.sqlite'}"])
    assert result.exit_code == 1
    assert "not there yet" in result.stdout
    for hidden in ("s3c", "PW", "bob"):
        assert hidden not in result.output


def test_a_policy_that_there_is_not_is_a_usage_error() -> None:
    result = runner.invoke(app, ["doctor", "--policy", "none"])
    assert result.exit_code == 2
    words = " ".join(result.stderr.replace("│", "").split())
    assert "expected one of lossless, default, tight, found 'none'" in words


def test_without_packaging_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("accp_adapters.cli.checks.installation")
    monkeypatch.setitem(sys.modules, "accp_adapters.cli.checks.installation", None)
    result = runner.invoke(app, ["doctor"])
    assert result.exit_code == 2
    assert "accp doctor needs an extra: pip install 'accp-middleware[cli]'" in result.stderr


def test_a_sqlite_store_gets_a_probe_and_keeps_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "texts.sqlite"
    SqliteColdStore(path).put("s", "cold.k", "kept")
    assert stores.store(f"sqlite:{path}").found == "a probe was written, read and deleted"
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert sum(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables) == 1
    connection.close()
    (tmp_path / "text.txt").write_text("no database", encoding="utf-8")
    broken = stores.store(f"sqlite:{tmp_path / 'text.txt'}")
    assert broken.is_problem
    assert "not a database" in broken.found


def test_a_redis_that_may_evict_is_a_problem(redis_url: str) -> None:
    assert not stores.store(redis_url).is_problem
    with redis.Redis.from_url(redis_url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            found = stores.store(redis_url)
            assert client.keys("accp:accp-doctor*") == []
        finally:
            client.config_set("maxmemory-policy", "noeviction")
    assert found.next_step == "set maxmemory-policy noeviction in the configuration of Redis"


def test_a_postgres_without_tables_of_checkpoints_says_so(postgres_url: str) -> None:
    assert stores.store(postgres_url).found == "reachable, without the tables of LangGraph's checkpoints"
    assert stores.store("postgresql://bob:hunter22@127.0.0.1:1/x").is_problem


def test_nats_is_reached_with_jetstream(nats_url: str) -> None:
    assert stores.store(nats_url).found.startswith("reachable, with JetStream (")
    gone = stores.store("nats://bob:hunter22@127.0.0.1:1")
    assert (gone.is_problem, "hunter22" in gone.found) == (True, False)


@pytest.mark.parametrize(
    ("address", "module", "extra"),
    [
        ("redis://h", "accp_adapters.stores.redis", "redis"),
        ("nats://h", "nats", "nats"),
        ("postgres://h", "psycopg", "all"),
    ],
)
def test_a_client_that_is_not_installed_is_named(
    address: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert stores.store(address).next_step == f"pip install 'accp-middleware[{extra}]'"


def test_an_extra_in_a_wrong_version_is_a_problem_and_one_that_is_missing_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = {"redis": "4.0.0", "nats-py": ""}
    real = metadata.version

    def version(name: str) -> str:
        if versions.get(name) == "":
            raise metadata.PackageNotFoundError(name)
        return versions.get(name) or real(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setenv("ACCP_DISABLED", "1")
    found = {check.name: check for check in installation.installation()}
    assert found["extra redis"].found == "redis 4.0.0 (expected <9,>=5.0.1)"
    assert found["extra redis"].next_step == "pip install 'accp-middleware[redis]'"
    assert found["extra nats"].found.startswith("not installed: nats-py missing; ")
    assert not found["extra nats"].is_problem
    assert found["ACCP_DISABLED"].next_step == "unset ACCP_DISABLED"


def test_a_vocabulary_that_counts_otherwise_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.tokens.by_name", lambda name: len)
    assert counting.counter("o200k_base").next_step == "pip install --force-reinstall accp-middleware"
    assert counting.counter("other").found.endswith("tokens of a sample; loaded")


def test_an_extra_that_is_installed_but_cannot_be_imported_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    found = {check.name: check for check in installation.installation()}["extra tokenizers"]
    assert found.found.startswith("installed, but broken: ModuleNotFoundError: ")
    assert found.next_step == "pip install 'accp-middleware[tokenizers]' --force-reinstall"
