"""Long frames are encoded and decoded in a thread: whoever else uses the event loop is served meanwhile."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from accp_adapters.bindings.hosts import Request, SessionHost
from accp_adapters.serving.threads import LONG, OWNER, off_loop
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import PRACTICAL_LIMITS, Codec, Intent, Message
from tests.adapters.bindings.accp.serving import echo, serving
from tests.adapters.bindings.accp.test_connect import joined
from tests.adapters.bindings.hosts.agents import ANN, BOB, Client, count_characters
from tests.limits import PATIENCE

WORDS = "word " * LONG


class Patient:
    """A counter that waits, with a long text, until others were served."""

    def __init__(self) -> None:
        self.served = threading.Event()
        self.began = threading.Event()
        self.threads = set[threading.Thread]()

    def __call__(self, text: str) -> int:
        if len(text) > LONG:
            self.threads.add(threading.current_thread())
            self.began.set()
            assert self.served.wait(PATIENCE)
        return count_characters(text)


@pytest.fixture
def patient() -> Patient:
    return Patient()


def codec_of(counter: Any) -> Codec:
    return Codec(counter=counter, limits=replace(PRACTICAL_LIMITS, body_hard=1 << 20, total_hard=1 << 20))


async def tell(request: Request) -> Mapping[str, Any]:
    return {"text": WORDS} if request.message.operation == "tell" else {"n": 1}


@pytest.mark.parametrize("payload", [{}, {"text": WORDS}], ids=["answer", "request"])
async def test_other_sessions_are_answered_while_a_long_frame_is_encoded(
    payload: dict[str, Any], patient: Patient
) -> None:
    client, store = Client(), SqliteColdStore()
    client.session._parts.codec = codec_of(count_characters)
    async with SessionHost(tell, codec=codec_of(patient), store=store) as host:
        asked = asyncio.ensure_future(host.frames(ANN, client.ask("tell", **payload)))
        await asyncio.to_thread(patient.began.wait, PATIENCE)
        await host.frames(BOB, Client().ask("add"))
        patient.served.set()
        frames = await asked
    assert threading.main_thread() not in patient.threads
    assert [message.payload["text"] for message in client.messages(frames)] == [WORDS]
    async with SessionHost(tell, codec=codec_of(patient), store=store) as host:  # reads the long snapshot
        assert [message.payload for message in client.messages(await host.frames(ANN, client.ask("add")))] == [{"n": 1}]
    assert threading.main_thread() not in patient.threads


@contextmanager
def core_calls_with_long_texts() -> Iterator[set[str]]:
    """Collect the functions of the core that take or return a long text in the thread of the event loop."""
    found = set[str]()

    def note(frame: FrameType, event: str, result: object) -> None:
        if "/accp_core/" not in frame.f_code.co_filename or event not in {"call", "return"}:
            return
        values = frame.f_locals.values() if event == "call" else (result,)
        if any(isinstance(value, str) and len(value) > LONG for value in values):
            found.add(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("carrier", ["http", "ws"])
async def test_nothing_of_a_long_frame_is_read_or_written_beside_the_threads(carrier: str) -> None:
    async def counted(request: Request) -> Mapping[str, Any]:
        return {"n": len(str(request.message.payload["text"]))}

    client, frames = Client(), list[str]()
    client.session._parts.codec = codec_of(count_characters)
    text = client.ask("tell", text=WORDS)
    async with SessionHost(counted, codec=codec_of(count_characters), store=SqliteColdStore()) as host:
        with core_calls_with_long_texts() as found:
            if carrier == "http":
                frames = await host.frames(ANN, text)
            else:
                async with host.attached(ANN, "s1") as attachment:
                    await attachment.receive(text)
                    frames.append(await anext(attachment))
    assert frames
    assert found == set()


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_client_encodes_and_decodes_long_frames_in_a_thread(scheme: str, patient: Patient) -> None:
    patient.served.set()
    message = Message(sender="", intent=Intent.REQUEST, operation="tell", payload={"text": WORDS})
    async with (
        serving(echo, codec=codec_of(count_characters)) as address,
        joined(address, scheme, codec=codec_of(patient)) as session,
    ):
        answers = await asyncio.gather(*(session.request(message) for _ in range(3)))
    assert [answer.payload["text"] for answer in answers] == [WORDS] * 3
    assert patient.threads
    assert threading.main_thread() not in patient.threads


async def test_who_has_long_work_rests_while_others_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    rests = list[float]()

    async def sleep(seconds: float) -> None:
        rests.append(seconds)
        await asyncio.sleep(seconds)

    monkeypatch.setattr("accp_adapters.serving.threads.sleep", sleep)
    OWNER.set("ann")
    await off_loop(0, len, "small")
    OWNER.set("hog")
    for _ in range(2):
        await off_loop(LONG + 1, sum, range(2_000_000))
    assert len(rests) == 1
