"""`accp mcp` as a client's configuration starts it: options, exit codes, and what it says when it cannot begin."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.adapters.mcp.serving import free_port
from tests.limits import PATIENCE

ACCP = [sys.executable, "-c", "from accp_adapters.cli import main; main()"]
ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
runner = CliRunner()


def accp(*arguments: str, sent: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [*ACCP, "mcp", "--quiet", *arguments]
    return subprocess.run(command, input=sent, capture_output=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("separator", [["--"], pytest.param([], marks=pytest.mark.slow)])
def test_the_servers_words_are_the_servers(separator: list[str]) -> None:
    program = "import sys; print(sys.argv[1:])"
    run = accp("--policy", "always", *separator, sys.executable, "-c", program, "--policy", "--", "--help")
    assert (run.returncode, run.stdout) == (0, b"['--policy', '--', '--help']\n")


@pytest.mark.parametrize("options", [[], pytest.param(["--decode"], marks=pytest.mark.slow)])
def test_lines_and_exit_code_are_the_servers(options: list[str]) -> None:
    sent = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\nnot JSON\n'
    run = accp(*options, "--", sys.executable, "-c", f"{ECHO}\nsys.stderr.write('bye')\nsys.exit(3)", sent=sent)
    assert (run.returncode, run.stdout, run.stderr) == (3, sent, b"bye")


# The interpreter ends once the main thread has; a daemon would be lost in the sum.
WARMING_UP_LATE = """
import atexit, sys, threading
from accp_adapters.cli import main
from accp_adapters.mcp import Encoder
def warm_up(encoder):
    threading.main_thread().join()
    done.append(sum(range(1_000_000)))
done = []
Encoder.warm_up = warm_up
atexit.register(lambda: print(len(done), file=sys.stderr))
main()
"""


def test_the_command_ends_only_after_its_vocabulary_was_loaded() -> None:
    """The abort of an interpreter that ends while tiktoken counts hides the server's exit code."""
    command = [
        sys.executable,
        "-c",
        WARMING_UP_LATE,
        "mcp",
        "--quiet",
        "--",
        sys.executable,
        "-c",
        "import sys; sys.exit(3)",
    ]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (3, b"", b"1\n")


HOSTILE = [
    b"\x00" * 100 + b"\n",
    b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":[]}\n',
    b'{"jsonrpc":"2.0","id":1e999,"method":"tools/call"}\n',
    b'{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":5,"arguments":7,"_meta":[]}}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":[[]]}}\n',
    b'{"id":1,"result":{"content":{"type":"text"},"capabilities":3,"tools":"none"}}\n',
    b'{"method":{},"id":[]}\n',
    b'{"a":' * 50_000 + b"\n",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["--structured", "drop"],
        ["--tools", "lazy", "--fetch"],
        ["--carrier", "text"],
        ["--decode"],
    ],
    ids=" ".join,
)
def test_hostile_lines_pass_as_they_came_and_do_no_harm(options: list[str]) -> None:
    sent = b"".join(HOSTILE)
    run = accp(*options, "--", sys.executable, "-c", ECHO, sent=sent)
    assert (run.returncode, run.stdout, run.stderr) == (0, sent, b"")


def test_a_server_that_a_signal_ends_ends_the_command_alike() -> None:
    run = accp("--", sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert run.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "found none"),
        (["--host", "emacs", "--", "cat"], "found 'emacs'"),
        (["--url", "http://127.0.0.1:1/mcp", "--", "cat"], "more than one"),
        (["--", "/no/such/server"], "'/no/such/server'"),
        (["--url", "http://127.0.0.1:1/mcp", "--listen", "8931x"], "'8931x'"),
        (["--url", "http://127.0.0.1:1/mcp", "--listen", "localhost:99999"], "'localhost:99999'"),
        (["--url", "ftp://user:pw@x/mcp"], "found the scheme 'ftp'"),
        (["--url", "http://127.0.0.1:1/mcp", "--header", "authorization"], "a line without a name"),
        (["--policy", "sometimes", "--", "cat"], "'sometimes'"),
        (["--changes", "--", "cat"], "expected 'fetch' to be True where 'changes' is"),
    ],
)
def test_what_cannot_begin_is_a_usage_error_that_names_it(arguments: list[str], said: str) -> None:
    result = runner.invoke(app, ["mcp", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("served", [["--url", "http://127.0.0.1:1/mcp"], ["--config", "team.json"], ["--", "cat"]])
@pytest.mark.parametrize("place", ["0.0.0.0:0", "[::]:0", "192.0.2.1:8931", "example.com:8931"])
def test_other_machines_are_served_with_tokens_only(
    served: list[str], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("team.json").write_text('{"mcpServers": {"a": {"command": "cat"}}}', encoding="utf-8")
    results = [
        runner.invoke(app, words, env={"COLUMNS": "200"})
        for words in (["mcp", "--listen", place, *served], ["serve", "--compress", "--http", place])
    ]
    host = place.rpartition(":")[0].strip("[]")
    for result in results:
        assert result.exit_code == 2
        assert (
            f"expected --token-env to listen at '{host}': without tokens, only this machine is served" in result.stderr
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--token-env", "TOKENS", "--", "cat"], "expected --listen, found none"),
        (["--token-env", "TOKENS", "--listen", "0.0.0.0:0", "--", "cat"], "TOKENS: expected at least one token"),
    ],
)
def test_tokens_without_a_use_or_a_value_are_refused(words: list[str], said: str) -> None:
    result = runner.invoke(app, ["mcp", *words], env={"COLUMNS": "200"})
    assert (result.exit_code, said in result.stderr) == (2, True)


@pytest.mark.slow
def test_it_listens_says_where_and_ends_when_told() -> None:
    nobody = f"http://127.0.0.1:{free_port()}/mcp"
    command = [*ACCP, "mcp", "--url", nobody, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as proxy:
        assert proxy.stderr is not None
        assert b"no host of today does" in proxy.stderr.readline()
        said = proxy.stderr.readline().decode().split()
        answer = httpx.post(said[2], json={"jsonrpc": "2.0", "id": 5, "method": "ping"}, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["id"]) == (502, 5)
        proxy.send_signal(signal.SIGTERM)
        assert proxy.wait(PATIENCE) == -signal.SIGTERM


def test_a_port_that_is_taken_is_a_usage_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = runner.invoke(app, ["mcp", "--url", "http://127.0.0.1:1/mcp", "--listen", address])
    assert (result.exit_code, address in result.stderr) == (2, True)


def test_a_remote_server_that_cannot_be_reached_is_an_error_for_the_request() -> None:
    run = accp("--url", f"http://127.0.0.1:{free_port()}/mcp", sent=b'{"jsonrpc":"2.0","id":"a","method":"ping"}\n')
    answer = json.loads(run.stdout)
    assert (run.returncode, answer["id"], answer["error"]["code"]) == (0, "a", -32603)


def test_the_proxy_for_a_command_needs_no_framework(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom accp_adapters.cli.app import app\n"
        "try: app(['mcp', '--quiet', '--', sys.executable, '-c', 'pass'])\n"
        "except SystemExit: sys.stderr.write(' '.join({'mcp', 'httpx', 'uvicorn', 'langgraph'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stderr == ""
