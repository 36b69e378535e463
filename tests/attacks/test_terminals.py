"""Attacks on terminals: names and texts of others that would move the cursor, or forge a line."""

import os
import pty
import subprocess
from pathlib import Path

import httpx2

from tests.attacks.commands import ACCP, running
from tests.attacks.frames import frame_of
from tests.limits import PATIENCE, async_wait_until

FORGED = "n\n\x1b[31m  git: wrapped"


def shown(*words: str, **options: object) -> str:
    done = subprocess.run([*ACCP, *words], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    return str(done.stdout + done.stderr)


def on_terminal(*words: str) -> bytes:
    """Return what a command writes to its terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*ACCP, *words], stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        written = b""
        try:
            while data := os.read(ours, 65_536):
                written += data
        except OSError:  # the other end is closed
            pass
        process.wait()
    os.close(ours)
    return written


def test_the_refusal_of_an_option_obeys_nothing(tmp_path: Path) -> None:
    assert "\x1b" not in shown("mcp", "install", "--client", "\x1b[31m", "--state-dir", str(tmp_path))


async def test_what_a_server_logs_of_its_peers_obeys_nothing() -> None:
    words = ("serve", "tests.attacks.served:complain", "--http", "127.0.0.1:0")
    with running(*ACCP, *words) as command:
        fields = {"content-type": "application/accp"}
        async with httpx2.AsyncClient(base_url=command.url, headers=fields, timeout=PATIENCE) as client:
            await client.post("/accp/v1/frames", content=frame_of("ann", "s1", "\x1b[2J"))
        await async_wait_until(lambda: any("ValueError: no such thing" in line for line in command.said))
        assert not [line for line in command.said if "\x1b" in line]


def test_a_text_on_a_terminal_obeys_nothing_and_is_exact_elsewhere(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a\x1b]0;title\x07b \u202e c")
    assert b"\x1b" not in (seen := on_terminal("view", str(text)))
    assert rb"a\x1b]0;title\x07b \u202e c" in seen
    assert "a\x1b]0;title\x07b \u202e c" in shown("view", str(text), encoding="utf-8")
