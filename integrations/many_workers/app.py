"""Three workers behind one port, killed in turn under load: nothing acknowledged is lost, nothing is answered twice.

    python integrations/many_workers/app.py --store sqlite:/tmp/sessions.db --kills 4

The workers are processes that share nothing but the store of the sessions. A front accepts connections on one port and
gives each to the next worker, as a load balancer does. Clients ask over HTTP, each request on a new connection, and
send the same frame again until it is answered; meanwhile one worker after the other is killed (SIGKILL) and started
again. Each answer is checked when it comes, and the last ones once more when all workers were killed.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx2

from accp_core import Codec, Message, Session, parse_frame
from accp_core.accp import MessageReceived, SessionOptions
from accp_core.accp.frame import Intent

WORKERS = 3
SESSIONS = 8
PAUSE = 0.02
BETWEEN_KILLS = 0.5
KEPT = 100
"""Answers of a session that are asked for again at the end; a host keeps 128."""
HEADERS = {"content-type": "application/accp", "accp-resume": "1"}


@dataclass
class Report:
    """What came of a run."""

    kills: int = 0
    answered: int = 0
    seconds: float = 0.0
    retries: int = 0
    """How often a frame was sent again, because its connection was lost or nobody answered in time."""
    again: int = 0
    """How often a handler ran again for a request, because its worker was killed."""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.answered} requests answered in {self.seconds:.1f} s "
            f"({2 * self.answered / self.seconds:.0f} frames/s), {self.retries} sent again, "
            f"{self.again} handled again, faults: {self.faults or 'none'}"
        )


class Workers:
    """The worker processes, and the front that gives them connections in turn."""

    def __init__(self, store: str, folder: Path) -> None:
        self._store, self._folder = store, folder
        self._processes: dict[int, tuple[asyncio.subprocess.Process, int]] = {}
        self._turn = count()

    async def start(self, number: int) -> None:
        """Start one worker."""
        arguments = [str(Path(__file__).with_name("worker.py")), self._store, str(self._folder)]
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
        assert process.stdout
        self._processes[number] = process, int(await process.stdout.readline() or 0)

    async def kill(self, number: int) -> None:
        """Kill one worker, without a chance to finish anything."""
        process, _ = self._processes.pop(number)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect one client with the next worker; without one the connection ends, and the client tries again."""
        with suppress(OSError, ZeroDivisionError):
            turn = next(self._turn) % len(self._processes)
            _, port = list(self._processes.values())[turn]
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(_copy(reader, back_writer), _copy(back_reader, writer), return_exceptions=True)
            back_writer.close()
        writer.close()

    async def stop(self) -> None:
        """Kill all."""
        for number in list(self._processes):
            await self.kill(number)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until it ends."""
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


class Client:
    """One agent with one session: it asks one question after the other."""

    def __init__(self, session_id: str, url: str, report: Report) -> None:
        ids = count(1)
        self.session_id, self.url, self.report = session_id, url, report
        self.answers: dict[str, str] = {}
        self.session = Session(
            session_id,
            "ann",
            codec=Codec(counter=lambda text: len(text) // 4 + 1),
            new_id=lambda: f"{session_id}x{next(ids)}",
            options=SessionOptions(name_session=True, checkpoints=frozenset(), first=1, timeout=None),
        )

    async def run(self, stop: asyncio.Event, pace: float) -> None:
        """Ask until `stop` is set."""
        limits = httpx2.Limits(max_keepalive_connections=0)
        async with httpx2.AsyncClient(limits=limits, timeout=30.0, trust_env=False) as http:
            for number in count():
                if stop.is_set():
                    return
                await self._ask(http, number)
                await asyncio.sleep(pace)

    async def _ask(self, http: httpx2.AsyncClient, number: int) -> None:
        message = Message(sender="ann", intent=Intent.REQUEST, operation="double", payload={"n": number})
        (frame,) = self.session.send(message, time.time())
        frames = await self.post_until_answered(http, frame)
        events = [event for text in frames for event in self.session.receive(text, time.time())]
        found = [event.message.payload.get("doubled") for event in events if isinstance(event, MessageReceived)]
        # One answer for each request takes one number each: a lost or a second one would shift all that follow.
        if found != [2 * number] or [parse_frame(text).envelope.sequence for text in frames] != [number + 1]:
            self.report.faults.append(f"{self.session_id}: {number} was answered by {frames}")
        self.answers[frame] = frames[-1]
        self.report.answered += 1

    async def post_until_answered(self, http: httpx2.AsyncClient, frame: str) -> list[str]:
        """Return the answer to a frame, sent again until it comes."""
        while not (frames := await self._post(http, frame)):
            self.report.retries += 1
            await asyncio.sleep(PAUSE)
        return frames

    async def _post(self, http: httpx2.AsyncClient, frame: str) -> list[str]:
        """Return the answer to a frame, nothing where the connection was lost or no session has taken the frame."""
        try:
            response = await http.post(self.url, content=frame, headers=HEADERS)
        except httpx2.TransportError:
            return []
        frames = response.text.splitlines()
        return [] if not frames or parse_frame(frames[0]).envelope.sequence == 0 else frames


async def check(clients: Sequence[Client], folder: Path, report: Report) -> None:
    """Ask the last questions again, now that no worker is left that answered them; count the runs of the handlers."""
    async with httpx2.AsyncClient(timeout=30.0, trust_env=False) as http:
        for client in clients:
            if not client.answers:
                report.faults.append(f"{client.session_id} got no answer")
            for frame, answer in list(client.answers.items())[-KEPT:]:
                if (again := await client.post_until_answered(http, frame)) != [answer]:
                    report.faults.append(f"{client.session_id}: {answer} was told, {again} is recorded")
    runs = Counter((folder / "runs").read_text().splitlines())
    report.again = sum(number - 1 for number in runs.values())


async def run(
    store: str, kills: int, folder: Path, *, prefix: str = "", sessions: int = SESSIONS, pace: float = 0.0
) -> Report:
    """Serve, ask, kill, and check every answer; `prefix` begins the ids of the sessions, which must be new.

    `pace` is the time between two requests of a client, in seconds.
    """
    report, stop, workers = Report(), asyncio.Event(), Workers(store, folder)
    await asyncio.gather(*map(workers.start, range(WORKERS)))
    front = await asyncio.start_server(workers.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{front.sockets[0].getsockname()[1]}/accp/v1/frames"
    clients = [Client(f"{prefix}s{number}", url, report) for number in range(sessions)]
    begun = time.monotonic()
    asking = asyncio.gather(*(client.run(stop, pace) for client in clients))
    try:
        async with asyncio.timeout(120 + 30 * kills):
            while report.kills < kills and not asking.done():
                await asyncio.sleep(BETWEEN_KILLS)
                number = report.kills % WORKERS
                await workers.kill(number)
                report.kills += 1
                await workers.start(number)
            stop.set()
            await asking
            report.seconds = time.monotonic() - begun
            await workers.stop()
            await workers.start(0)
            await check(clients, folder, report)
    finally:
        asking.cancel()
        await workers.stop()
        front.close()
    return report


def main() -> None:
    """Run, and print the report."""
    parser = argparse.ArgumentParser(description="Three workers behind one port, killed in turn under load.")
    parser.add_argument("--store", help="sqlite:PATH or redis://…; a file in a temporary folder by default")
    parser.add_argument("--kills", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or f"sqlite:{folder}/sessions.db"
        report = asyncio.run(run(store, options.kills, Path(folder), prefix=secrets.token_hex(4)))
    print(report)
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
