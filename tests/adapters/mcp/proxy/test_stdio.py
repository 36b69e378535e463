"""A proxy in front of a child process is not to be noticed: bytes, environment, signals, the deaths of both ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from accp_adapters.mcp.proxy.pipes import LinePipe, run_stdio
from tests.adapters.mcp.proxy.marking_relay import marking
from tests.limits import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
PROXY = """
import sys
from accp_adapters.mcp.proxy.pipes import end_like, run_stdio
from tests.adapters.mcp.proxy.marking_relay import marking
sys.exit(end_like(run_stdio([sys.executable, "-c", sys.argv[1]], marking())))
"""


def exchange(
    program: str, sent: bytes, *, after_sending: Callable[[], object] = bool, **options: int
) -> tuple[bytes, int]:
    """Return what a client reads that sends `sent` to a Python `program` through the proxy, and the return code."""
    (source, to_proxy), (from_proxy, target) = os.pipe(), os.pipe()
    received = bytearray()

    def send() -> None:
        with suppress(BrokenPipeError), open(to_proxy, "wb") as stream:
            stream.write(sent)
        after_sending()

    def receive() -> None:
        with open(from_proxy, "rb") as stream:
            received.extend(stream.read())

    threads = [threading.Thread(target=each, daemon=True) for each in (send, receive)]
    for thread in threads:
        thread.start()
    command = [sys.executable, "-c", program]
    code = run_stdio(command, marking(), source=source, target=target, **options)
    for thread in threads:
        thread.join(PATIENCE)
    return bytes(received), code


def start(program: str, proxied: bool = True) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROXY, program] if proxied else [sys.executable, "-c", program]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


LINES = [
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n',
    b'[{"jsonrpc":"2.0","id":2,"method":"ping"}]\r\n',
    b"not JSON at all\n",
    b"\xff\xfe\n",
    b"\n",
    b'{"last line": "without an end"}',
]


def test_what_the_shim_leaves_alone_passes_both_ways_as_it_came() -> None:
    assert exchange(ECHO, b"".join(LINES)) == (b"".join(LINES), 0)


def test_what_the_shim_changes_is_one_line_each_way() -> None:
    received, _ = exchange(ECHO, b'{"mark": 1}\n')
    assert received == b'{"mark":1,"marked":true}\n'


def test_what_the_shim_answers_does_not_reach_the_server() -> None:
    received, _ = exchange("import sys; sys.stdout.write(f'{len(sys.stdin.read())}')", b'{"method":"ours","id":1}\n')
    assert received == b'{"id":1,"result":"ours"}\n0'


def test_a_line_beyond_the_limit_passes_as_it_came() -> None:
    sent = b'{"mark":"' + b"x" * 2_000_000 + b'"}\n{"mark": 1}\n'
    received, _ = exchange(ECHO, sent, limit=1_000_000)
    assert received == sent.replace(b'{"mark": 1}', b'{"mark":1,"marked":true}')


def test_a_result_of_50_megabytes_passes_and_may_be_changed() -> None:
    text = "ä" * 25_000_000
    program = f"print('{{\"mark\":\"' + 'ä' * {len(text)} + '\"}}')"
    received, code = exchange(program, b"")
    assert code == 0
    assert json.loads(received) == {"mark": text, "marked": True}


def test_a_server_that_dies_in_mid_answer_leaves_what_it_said_and_its_code() -> None:
    program = 'import os; os.write(1, b\'{"id":1,"resu\'); os._exit(7)'
    assert exchange(program, b'{"id":1}\n') == (b'{"id":1,"resu', 7)


def test_a_server_that_a_signal_ends_gives_its_number() -> None:
    assert exchange("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", b"")[1] == -signal.SIGKILL


def test_a_server_that_stops_reading_closes_the_clients_pipe(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    # The server ends when the client has found its pipe closed, or says that it never did.
    program = f"""
import os, select
os.close(0)
told = os.open({str(told)!r}, os.O_RDWR)
os.write(1, b"closed" if select.select([told], [], [], {PATIENCE})[0] else b"never told")
"""

    def tell() -> None:
        told.write_text("the pipe is closed", encoding="utf-8")

    assert exchange(program, b"x\n" * 1_000_000, after_sending=tell) == (b"closed", 0)


def test_a_client_that_stops_reading_breaks_the_servers_pipe() -> None:
    program = "import os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: os.write(1, b'x' * 1000)"
    with start(program) as proxy:
        assert proxy.stdout is not None
        assert proxy.stdout.read(10) == b"x" * 10
        proxy.stdout.close()
        assert proxy.wait(PATIENCE) == -signal.SIGPIPE


def test_the_command_must_exist() -> None:
    with pytest.raises(FileNotFoundError):
        run_stdio(["/no/such/server"], marking())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_goes_to_the_server_which_may_end_in_its_own_way(number: int) -> None:
    program = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "signal.pause()"
    )
    with start(program) as proxy:
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == b"ready\n"
        proxy.send_signal(number)
        assert proxy.wait(PATIENCE) == 9


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_proxy_ends_by_the_signal_that_ended_the_server(number: int) -> None:
    with start(f"import os; os.kill(os.getpid(), {int(number)})") as proxy:
        assert proxy.wait(PATIENCE) == -number


def test_environment_folder_and_standard_error_are_the_proxys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ACCP_TEST", "handed over")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
    monkeypatch.chdir(tmp_path)
    program = "import os, sys; print(os.environ['ACCP_TEST'], os.getcwd()); print('said', file=sys.stderr)"
    with start(program) as proxy:
        out, err = proxy.communicate(timeout=PATIENCE)
    assert (out.decode(), err) == (f"handed over {tmp_path}\n", b"said\n")


def test_a_client_that_closes_ends_the_server_and_gets_the_rest() -> None:
    program = "import sys; sys.stdin.read(); print('bye' * 1_000_000)"
    assert exchange(program, b"{}\n") == (b"bye" * 1_000_000 + b"\n", 0)


def test_lines_of_two_threads_do_not_run_into_each_other() -> None:
    reading, writing = os.pipe()
    pipe = LinePipe(writing)
    pipe.write(b"first ")
    other = threading.Thread(target=pipe.write, args=(b"second\n",))
    other.start()
    pipe.write(b"line\n")
    other.join(PATIENCE)
    pipe.close()
    with open(reading, "rb") as stream:
        assert stream.read() == b"first line\nsecond\n"


@pytest.mark.parametrize("sent", [LINES, [b'{"id":1}\n'] * 1000], ids=["odd lines", "a thousand requests"])
def test_the_transcript_is_the_same_with_and_without_the_proxy(sent: Sequence[bytes]) -> None:
    transcripts = []
    for proxied in (False, True):
        with start(ECHO, proxied) as process:
            out, err = process.communicate(b"".join(sent), timeout=PATIENCE)
        transcripts.append((out, err, process.returncode))
    assert transcripts[0] == transcripts[1] == (b"".join(sent), b"", 0)
