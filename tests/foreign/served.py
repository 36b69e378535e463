"""The product as processes: `accp serve` and a program that uses `connect`."""

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.limits import PATIENCE

__all__ = ["ask", "serving"]

SECONDS = PATIENCE
_ACCP = str(Path(sys.executable).with_name("accp"))
_HANDLER = """
async def answer(request):
    return dict(request.message.payload)
"""
_CLIENT = """
import asyncio, sys
from accp_adapters.bindings import connect
from accp_core.accp import Message
from accp_core.errors import ProtocolError

async def main(url, count):
    async with connect(url, agent_id="orchestrator") as session:
        for number in range(count):
            message = Message(sender="", intent="req", operation="tool", payload={"q": number})
            try:
                answer = await session.request(message)
                print(answer.intent.value, dict(answer.payload), flush=True)
            except ProtocolError as error:
                print(error.code, error, flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@contextmanager
def serving(folder: Path, *options: str, handler: str = _HANDLER) -> Iterator[tuple[str, int]]:
    """Serve a handler, by default one that returns what it is asked; yield the address."""
    (folder / "crm.py").write_text(handler)
    command = [_ACCP, "serve", "crm:answer", "--http", "127.0.0.1:0", *options]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        found = next(found for line in server.stderr if (found := re.search(r"http://([\d.]+):(\d+)", line)))
        yield found[1], int(found[2])
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS)


def ask(url: str, count: int) -> list[str]:
    """Send `count` requests, one after the other; return what each led to."""
    command = [sys.executable, "-c", textwrap.dedent(_CLIENT), url, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout.splitlines()
