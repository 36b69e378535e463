"""Attacks by connections that say nothing, or begin to: they take no places of users, nor of other addresses."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from itertools import cycle
from pathlib import Path

import pytest
import trustme

from tests.attacks.commands import ACCP, Command, needs_proc, running
from tests.attacks.sockets import request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

OF_ONE, OF_ALL, OWN = 128, 512, 40
"""Silent connections of one address and of all that are kept; sockets that a process has of its own."""
PLACE = "127.0.0.1:0"
COMMANDS = {
    "frames": ("serve", "tests.attacks.served:answer", "--http", PLACE),
    "agent": ("serve", "tests.attacks.served:agent", "--http", PLACE),
    "tcp": ("serve", "tests.attacks.served:agent", "--tcp", PLACE),
    "relay": ("relay", "--http", PLACE),
}
SILENT = {
    "nothing": b"",
    "header": b"GET / HTTP/1.1\r\nhost: localhost\r\n",
    "body": request_of("POST", "/mcp", b"x" * 100, content_type="application/json")[:-90],
}


@contextmanager
def serving(name: str, folder: Path, *, is_secured: bool = False) -> Iterator[tuple[Command, ssl.SSLContext | None]]:
    """Yield a command, and how clients verify it."""
    words, client = list(COMMANDS[name]), None
    if is_secured:
        authority, client = trustme.CA(), ssl.create_default_context()
        issued = authority.issue_cert("127.0.0.1")
        issued.private_key_pem.write_to_path(folder / "key.pem")
        issued.cert_chain_pems[0].write_to_path(folder / "certificate.pem")
        authority.configure_trust(client)
        words += ["--certificate", str(folder / "certificate.pem"), "--key", str(folder / "key.pem")]
    with running(*ACCP, *words) as command:
        yield command, client


async def answered(command: Command, tls: ssl.SSLContext | None, source: str, asked: bytes) -> bool:
    """Return whether a client from an address gets an answer."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", command.ports[0], ssl=tls, local_addr=(source, 0))
        writer.write(asked)
        try:
            return bool(await reader.read(1))
        except ConnectionError:
            return False
        finally:
            writer.close()


async def attacked(command: Command, tls: ssl.SSLContext | None, said: bytes, asked: bytes) -> None:
    async def is_bounded(count: int) -> bool:
        """Return whether others, who came after them, are answered, and there are few sockets then."""
        answers = [await answered(command, tls, source, asked) for source in ("127.0.0.1", "127.0.0.2")]
        return all(answers) and command.sockets < count + OWN

    async with silent(command.ports[0], [said] * 600):
        assert await is_bounded(OF_ONE)
    async with AsyncExitStack() as stack:
        for number in range(10):
            await stack.enter_async_context(silent(command.ports[0], [said] * 100, source=f"127.0.0.{10 + number}"))
        assert await is_bounded(OF_ALL)


@pytest.mark.parametrize(
    ("name", "said"),
    [*zip(["frames", "relay", "proxy", "gateway", "agent"], cycle(SILENT), strict=False)],
)
async def test_requests_that_are_not_complete(name: str, said: str, tmp_path: Path) -> None:
    with serving(name, tmp_path) as (command, tls):
        await attacked(command, tls, SILENT[said], request_of("GET", "/"))


async def test_silent_connections_where_the_system_allows_few_descriptors() -> None:
    few = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
    with running(*few, *ACCP, *COMMANDS["relay"]) as command:
        async with AsyncExitStack() as stack:
            for number in range(10):
                attack = silent(command.ports[0], [b""] * 40, source=f"127.0.0.{10 + number}")
                await stack.enter_async_context(attack)
            assert await answered(command, None, "127.0.0.2", request_of("GET", "/"))
        assert not [line for line in command.said if "Too many open files" in line]


@pytest.mark.parametrize("name", ["frames", "relay"])
async def test_handshakes_of_tls_that_are_not_complete(name: str, tmp_path: Path) -> None:
    with serving(name, tmp_path, is_secured=True) as (command, tls):
        await attacked(command, tls, b"\x16\x03\x01", request_of("GET", "/"))


async def test_handshakes_of_tls_over_tcp(tmp_path: Path) -> None:
    card = json.dumps({"type": "acp.agent_card", "card": {"name": "ann"}}).encode() + b"\n"
    with serving("tcp", tmp_path, is_secured=True) as (command, tls):
        await attacked(command, tls, b"\x16\x03\x01", card)
