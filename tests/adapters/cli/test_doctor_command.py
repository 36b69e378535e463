"""`accp doctor`: what concerns this installation, the next step of each problem, no password."""

from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app

runner = CliRunner()


def test_a_whole_installation_has_no_problem(tmp_path: Path) -> None:
    result = runner.invoke(app, ["doctor", f"sqlite:{tmp_path / 'new.sqlite'}"])
    assert result.exit_code == 0, result.output
    for expected in ("ok      accp-middleware: ", "ok      extra cli: ", "not there yet", "policy default: 6,871 → "):
        assert expected in result.stdout
    assert not (tmp_path / "new.sqlite").exists(), "looking does not make a file"


@pytest.mark.parametrize(("name", "version"), [("redis", "0.1"), ("redis", ""), ("nats-py", ""), ("httpx2", "0.1")])
def test_an_extra_that_nobody_asked_for_is_no_problem(name: str, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = metadata.version

    def changed(asked: str) -> str:
        if asked != name:
            return found(asked)
        if not version:
            raise metadata.PackageNotFoundError(asked)
        return version

    monkeypatch.setattr(metadata, "version", changed)
    result = runner.invoke(app, ["doctor"])
    assert (result.exit_code, "PROBLEM" in result.stdout) == (0, False)


def test_a_library_that_is_broken_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "accp_adapters.stores.redis", None)
    result = runner.invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "PROBLEM extra redis: installed, but broken: " in result.stdout
    assert "next: pip install 'accp-middleware[redis]' --force-reinstall" in result.stdout


def test_a_switch_that_turns_everything_off_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DISABLED", "1")
    assert "ACCP_DISABLED: 1: the middleware changes nothing" in runner.invoke(app, ["doctor"]).stdout


@pytest.mark.parametrize(
    "address", ["redis://bob:s3cretPW@127.0.0.1:1/0?token=s3c", "foo://bob:s3cretPW@host", "sqlite:/none/there/x"]
)
def test_a_store_that_cannot_be_reached_has_a_next_step_and_shows_no_password(address: str) -> None:
    result = runner.invoke(app, ["doctor", address])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 problem"
    assert "        next: " in result.stdout
    assert not any(hidden in result.output for hidden in ("s3c", "bob"))


def test_a_store_keeps_nothing_of_the_probe(tmp_path: Path) -> None:
    address = f"sqlite:{tmp_path / 'texts.sqlite'}"
    (tmp_path / "texts.sqlite").touch()
    result = runner.invoke(app, ["doctor", address])
    assert f"{address}: a probe was written, read and deleted" in result.stdout
