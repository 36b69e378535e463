"""The reference of ACP against our bindings: `python -m tests.harness.interop.acp CHECKOUT`.

Its agent joins our host (A), hosts our guest (A) and listens to our relay (C). Its own suites call endpoints that stand
in no sentence of the specification, and are not run. Nothing of the checkout is copied; all of it runs without network
but the loopback interface, and without environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx2

from accp_adapters.bindings.acp import AcpHost, acp_app, acp_connect, relay_app
from accp_adapters.serving.principals import BearerTokens, Principal
from accp_core.acp import AgentCard
from accp_core.bridges.accp_in_acp import CarriedKind, text_to_part
from tests.adapters.bindings.acp.agents import Echo, hosting, serving
from tests.harness.interop.isolation import isolated, start_isolated
from tests.limits import async_wait_until
from tests.servers import free_port

TOKEN: Final = "tok_ba366fcab78d4d61"
FRAME: Final = "frame:of another protocol {mid=1}"


class Reference:
    """One running agent of the reference."""

    def __init__(self, checkout: Path, *options: str) -> None:
        self.port = free_port()
        self._checkout = checkout
        self._options = options
        self.api = httpx2.AsyncClient(base_url=f"http://127.0.0.1:{self.port + 100}", trust_env=False, timeout=10)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Reference]:
        """Run it while the context lasts."""
        with tempfile.TemporaryDirectory() as folder:
            command = [str(self._checkout / "relay" / "acp_relay.py"), "--name", "Reference", "--port", str(self.port)]
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *command,
                *self._options,
                cwd=folder,
                env={**os.environ, "HOME": folder},
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                await until(self._answers)
                yield self
            finally:
                await self.api.aclose()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()

    async def received(self) -> list[dict[str, Any]]:
        """Return the messages that it received since this was asked last."""
        return list((await self.api.get("/recv", params={"limit": 100})).json()["messages"])

    async def say(self, **message: Any) -> dict[str, Any]:
        """Have it send a message; return what it answers."""
        return dict((await self.api.post("/message:send", json={"role": "user", **message})).json())

    async def _answers(self) -> bool:
        with contextlib.suppress(httpx2.HTTPError):
            return (await self.api.get("/status")).status_code == 200
        return False


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Return as soon as `condition` returns something true."""
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.1)


def agent() -> Echo:
    echo = Echo("Ours")
    skill = {"id": "echo", "name": "echo", "description": "Says it again", "version": "1"}
    echo.card = AgentCard(name="Ours", version="1.0", description="An echo", skills=(skill,))
    return echo


async def its_guest(checkout: Path) -> str:
    """Have the reference join our host, over an abort and while it is away."""
    echo = agent()
    host = AcpHost(echo, authenticate=BearerTokens({TOKEN: Principal("ann")}))
    async with (
        serving(acp_app(host)) as port,
        Reference(checkout, "--join", f"acp://127.0.0.1:{port}/{TOKEN}").running() as reference,
    ):
        await async_wait_until(lambda: host.sessions() and host.sessions()[0].peer)
        (session,) = host.sessions()
        await reference.say(parts=[{"type": "text", "content": "hello"}])
        await reference.say(parts=[{"type": "data", "content": FRAME, "media_type": CarriedKind.FRAME.value}])
        await async_wait_until(lambda: len(echo.heard) == 2)
        answered = await reference.say(parts=[{"type": "text", "content": "now"}], sync=True, timeout=10)
        assert answered["reply"], answered
        await session.send((text_to_part(CarriedKind.FRAME, FRAME),))
        got: list[dict[str, Any]] = []

        async def has_frame() -> bool:
            got.extend(await reference.received())
            return any(FRAME in json.dumps(message) for message in got)

        await until(has_frame)
        assert session.channel is not None
        await session.channel.aclose()
        await async_wait_until(lambda: session.channel is None)
        await session.send("while you were away")

        async def has_offline() -> bool:
            got.extend(await reference.received())
            return any("while you were away" in json.dumps(message) for message in got)

        await until(has_offline)
        assert echo.heard[0] == "hello"
    return "cards, messages, a reply that was waited for, a frame intact both ways, reconnection, an offline message"


async def its_host(checkout: Path) -> str:
    """Join a host of the reference."""
    async with Reference(checkout).running() as reference:
        link = ""

        async def has_link() -> bool:
            nonlocal link
            link = str((await reference.api.get("/link")).json().get("link") or "")
            return bool(link)

        await until(has_link)
        token = link.rpartition("/")[2]
        async with acp_connect(f"acp://127.0.0.1:{reference.port}/{token}", agent=agent()) as session:
            assert session.peer is not None
            await session.send((text_to_part(CarriedKind.FRAME, FRAME),))
            got: list[dict[str, Any]] = []

            async def has_frame() -> bool:
                got.extend(await reference.received())
                return any(FRAME in json.dumps(message) for message in got)

            await until(has_frame)
            answered = await reference.say(parts=[{"type": "text", "content": "now"}], sync=True, timeout=10)
            assert "echo now" in json.dumps(answered), answered
    return f"card of {session.peer.name!r}, a frame to it intact, its request answered"


async def its_relay_guest(checkout: Path) -> str:
    """Have the reference listen to our relay; it cannot send over one."""
    async with serving(relay_app()) as port:
        link = f"acp+ws://127.0.0.1:{port}/acp/{TOKEN}"
        host = AcpHost(Echo("Ours"), authenticate=BearerTokens({TOKEN: Principal("guest")}))
        async with hosting(host, link), Reference(checkout, "--join", link).running() as reference:
            await async_wait_until(lambda: [session for session in host.sessions() if session.peer])
            await host.send("guest", (text_to_part(CarriedKind.FRAME, FRAME),))
            got: list[dict[str, Any]] = []

            async def has_frame() -> bool:
                got.extend(await reference.received())
                return any(FRAME in json.dumps(message) for message in got)

            await until(has_frame)
    return "joined, its card arrived, a frame to it intact"


async def run(checkout: Path) -> int:
    """Run all of it; return how many parts failed."""
    parts = (its_guest, its_host, its_relay_guest)
    failures = 0
    for part in parts:
        try:
            result = await part(checkout)
        except Exception as error:
            failures += 1
            result = f"FAILED {type(error).__name__}: {error}"
        print(f"{part.__name__:16} {result}", flush=True)
    return failures


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.harness.interop.acp CHECKOUT")
    if not isolated():
        start_isolated("tests.harness.interop.acp", str(Path(sys.argv[1]).resolve()))
    sys.exit(asyncio.run(run(Path(sys.argv[1]))))
