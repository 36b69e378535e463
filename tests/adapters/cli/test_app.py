import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_core.acp import AcpError
from accp_core.error_codes import ErrorCode

runner = CliRunner()
COMMANDS = (["view"], ["replay"], ["demo"], ["doctor"], ["query"])


def accp(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    program = "from accp_adapters.cli import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], input=stdin, capture_output=True, check=False)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command: list[str]) -> None:
    result = runner.invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    assert "Example: accp" in shown


def test_the_program_ends_with_0_1_and_2() -> None:
    assert accp("view", stdin=b"[1, 2]").returncode == 0
    assert accp("view", "--nonsense").returncode == runner.invoke(app, []).exit_code == 2
    refused = accp("view", "--read", stdin=b'{"a":')
    assert (refused.returncode, refused.stderr[:5], refused.stderr.count(b"\n")) == (1, b"-:1:2", 1)


def test_each_error_code_is_explained_with_what_to_do() -> None:
    for code in ErrorCode:
        lines = runner.invoke(app, ["explain", code.lower()]).stdout.splitlines()
        assert (lines[0].startswith(f"{code}: {code.meaning}"), len(lines)) == (True, 3)
    for code in (*AcpError, "invalid_token", "duplicate_connection"):
        assert runner.invoke(app, ["explain", code.upper()]).stdout.startswith(f"{code}: ")
    assert runner.invoke(app, ["explain", "E7"]).exit_code == 2


def options_of(command: Any) -> int:
    own = sum(parameter.param_type_name == "option" for parameter in command.params)
    return own + sum(map(options_of, getattr(command, "commands", {}).values()))


def test_there_are_few_options() -> None:
    assert options_of(get_command(app)) <= 60


def test_a_closed_pipe_is_no_news() -> None:
    program = "from accp_adapters.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "view"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
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


def test_help_imports_nothing_large() -> None:
    program = (
        "import sys; from accp_adapters.cli.app import app; app(['--help'], standalone_mode=False); "
        "print([m for m in ('langchain_core', 'langgraph', 'tiktoken') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_distribution() -> None:
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert re.fullmatch(r"accp \d+\.\d+\.\d+\S*\n", result.stdout)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of a user whose path begins with a folder that holds the command, as a script has it."""
    command = tmp_path / "bin" / "accp"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\nfrom accp_adapters.cli import main\nmain()\n", encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    return tmp_path


@pytest.mark.parametrize(
    "shell", ["bash", pytest.param("zsh", marks=pytest.mark.slow), pytest.param("fish", marks=pytest.mark.slow)]
)
def test_completion_can_be_installed_for_a_shell(shell: str, home: Path) -> None:
    done = subprocess.run(["accp", "--install-completion", shell], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    written = "".join(path.read_text("utf-8") for path in home.rglob("*") if path.is_file())
    assert "_ACCP_COMPLETE" in written


def test_bash_completes_commands_and_options(home: Path) -> None:
    shown = subprocess.run(["accp", "--show-completion", "bash"], capture_output=True, text=True, check=True)
    words = 'COMP_WORDS=(accp replay --ht)\nCOMP_CWORD=2\n_accp_completion accp\necho "${COMPREPLY[@]}"'
    typed = f"{shown.stdout}\n{words}"
    done = subprocess.run(["bash", "--norc", "-c", typed], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--html"]
