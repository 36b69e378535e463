"""Attacks by connections that say nothing, or begin to: they take no places of users, nor of other addresses."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.attacks.commands import ACCP, Command, needs_proc, running
from tests.attacks.sockets import UPGRADE, request_of, silent
from tests.limits import PATIENCE

pytestmark = needs_proc

COMMANDS = {
    "frames": ("serve", "tests.attacks.served:answer", "--http", "127.0.0.1:0"),
    "relay": ("relay", "--http", "127.0.0.1:0"),
}
FEW = ("sh", "-c", 'ulimit -n 320; exec "$@"', "sh")
"""Runs a command that may open few files."""
SILENT = {"nothing": b"", "header": b"GET / HTTP/1.1\r\nhost: localhost\r\n"}


async def answered(command: Command, source: str) -> bool:
    """Return whether a client from an address gets an answer."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", command.ports[0], local_addr=(source, 0))
        writer.write(request_of("GET", "/"))
        try:
            return bool(await reader.read(1))
        except ConnectionError:
            return False
        finally:
            writer.close()


@pytest.mark.parametrize("said", SILENT)
@pytest.mark.parametrize("name", COMMANDS)
async def test_silent_connections_of_one_address_and_of_many(name: str, said: str) -> None:
    with running(*FEW, *ACCP, *COMMANDS[name]) as command:
        async with silent(command.ports[0], [SILENT[said]] * 300):
            assert await answered(command, "127.0.0.1")
            assert await answered(command, "127.0.0.2")
            assert command.sockets < 160
        async with AsyncExitStack() as stack:
            for number in range(10):
                attack = silent(command.ports[0], [SILENT[said]] * 40, source=f"127.0.0.{10 + number}")
                await stack.enter_async_context(attack)
            assert await answered(command, "127.0.0.2")
        assert not [line for line in command.said if "Too many open files" in line]


# "the client MUST wait for a response from the server before sending any further data" (RFC 6455, section 4.1)
async def test_a_web_socket_that_goes_on_before_it_is_answered_leaves_no_traceback() -> None:
    upgrade = request_of("GET", "/accp/v1/ws", **UPGRADE)
    with running(*ACCP, *COMMANDS["frames"]) as command:
        async with silent(command.ports[0], [upgrade * 3_000]):
            assert await answered(command, "127.0.0.2")
        assert not [line for line in command.said if "Traceback" in line]
