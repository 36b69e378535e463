import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app

runner = CliRunner()
COMMANDS = (["view"], ["replay"], ["demo"], ["frame", "parse"], ["frame", "format"], ["frame", "check"])


def accp(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    program = "from accp_adapters.cli import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], input=stdin, capture_output=True, check=False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command: list[str]) -> None:
    result = runner.invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Example: accp" in result.stdout or "| accp" in result.stdout


def test_without_a_command_the_help_is_shown() -> None:
    assert runner.invoke(app, []).exit_code == 2


def test_an_unknown_command_is_a_usage_error() -> None:
    assert runner.invoke(app, ["nonsense"]).exit_code == 2


def test_the_program_ends_with_0_1_and_2() -> None:
    assert accp("view", stdin=b"[1, 2]").returncode == 0
    assert accp("view", "--read", stdin=b'{"a":').returncode == 1
    assert accp("view", "--nonsense").returncode == 2


def test_a_refusal_is_one_line_and_no_traceback() -> None:
    assert accp("frame", "parse", stdin=b"@a>REQ:op{}").stderr == b"-:1:4: E1002: expected a known intent\n"


def test_a_closed_pipe_is_no_news() -> None:
    program = "from accp_adapters.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "view"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(json.dumps(list(range(1000))).encode())
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()


def test_the_output_is_utf_8_whatever_the_locale() -> None:
    program = "import os; os.environ['LC_ALL'] = 'C'; from accp_adapters.cli import main; main()"
    command = [sys.executable, "-X", "utf8=0", "-c", program, "view"]
    done = subprocess.run(command, input='["Zoë", "\\ud800"]'.encode(), capture_output=True, check=True)
    assert "Zoë".encode() in done.stdout


def test_help_imports_no_framework() -> None:
    program = (
        "import sys; from accp_adapters.cli.app import app; "
        "print(*(m for m in ('langchain_core', 'langgraph', 'tiktoken') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == ""


def test_the_version_is_that_of_the_distribution() -> None:
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert re.fullmatch(r"accp \d+\.\d+\.\d+\S*\n", result.stdout)
