import json
import logging

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.cli.debug import JsonLines

runner = CliRunner()

FRAME = "@planner>req:schedule{pri:high|password:hunter2|acc:12}[mid:49679033e07c,seq:3]"


def run(*arguments: str, text: str = FRAME, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    result = runner.invoke(app, list(arguments), input=text, env=env)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("command", ["parse", "check", "format"])
def test_with_debug_each_frame_is_said_in_words_on_standard_error(command: str) -> None:
    code, out, err = run("--debug", "frame", command)
    assert code == 0
    assert err.startswith('debug: received in -:1: Request by planner: schedule(priority="high", password=[redacted], ')
    assert "; 33 tokens" in err
    assert run("frame", command)[1] == out


def test_a_frame_that_is_written_is_said_too() -> None:
    _, _, err = run("--debug", "frame", "format")
    assert [line.split()[1] for line in err.splitlines()] == ["received", "sent"]


def test_the_environment_switches_it_on() -> None:
    assert run("frame", "parse", env={"ACCP_DEBUG": "1"})[2].startswith("debug: ")


def test_without_it_nothing_is_said() -> None:
    assert run("frame", "parse")[2] == ""


def test_more_keys_can_be_hidden() -> None:
    assert "acc=12" in run("--debug", "frame", "parse")[2]
    assert "acc=[redacted]" in run("--debug", "--redact", "acc", "frame", "parse")[2]


def test_the_same_is_there_as_json() -> None:
    _, _, err = run("--debug-json", "--redact", "acc", "frame", "parse")
    event = json.loads(err)
    assert (event["direction"], event["sender"], event["sequence"], event["tokens"]) == ("received", "planner", 3, 33)
    assert "hunter2" not in err


def test_a_refused_text_is_said_by_its_place_and_not_by_itself() -> None:
    code, _, err = run("--debug", "frame", "parse", text="@a>req:op{password:hunter2")
    assert code == 1
    assert err.splitlines()[0].startswith("debug: received in -:1: no frame; 11 tokens; refused: E1001 expected ")
    assert "hunter2" not in err


def test_the_log_is_off_again_after_the_command() -> None:
    run("--debug", "frame", "parse")
    assert run("frame", "parse")[2] == ""
    assert logging.getLogger("accp").handlers == []
    assert logging.getLogger("accp").level == logging.NOTSET


def test_other_records_of_the_log_are_json_lines_too() -> None:
    record = logging.LogRecord("accp", logging.DEBUG, __file__, 1, "plain %s", ("words",), None)
    assert json.loads(JsonLines().format(record)) == {"message": "plain words"}
