"""How many frames a session takes a second, and what it keeps of them: `python -m tests.bench.session [frames]`."""

import gc
import sys
import tracemalloc
from itertools import count
from time import process_time

from accp_adapters.tokens import o200k_base
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope
from accp_core.accp.message import Message
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.session.session import Session
from accp_core.accp.vocabulary import Intent
from accp_core.ports import TokenCounter

FRAMES = 10_000
NOW = 1_714_000_000


DRAFT = SessionOptions()
"""A checkpoint at each `done`, by section 5.2 of the draft."""
WHEN_FULL = SessionOptions(checkpoints=frozenset())
"""A checkpoint where hot state is full only."""


def quarter(text: str) -> int:
    """Return about the number of tokens: a counter that takes no time."""
    return len(text) // 4


def begin(name: str, counter: TokenCounter, options: SessionOptions = DRAFT) -> Session:
    """Return one end of a session."""
    ids = count(1)
    codec = Codec(counter=counter, limits=PRACTICAL_LIMITS)
    return Session("bench", name, codec=codec, new_id=lambda: f"{name}{next(ids):011x}", options=options)


def talk(asking: Session, answering: Session, first: int, frames: int) -> None:
    """Ask and answer."""
    for number in range(first, first + frames // 2):
        now = NOW + number
        payload = {"tool_name": "web_search", "arguments": {"query": f"agent protocols {number}", "max": 5}}
        request = Message(sender="", intent=Intent.REQUEST, operation="tool", payload=payload, schema="TC")
        for text in asking.send(request, now):
            answering.receive(text, now)
            mid = text.envelope.msg_id
        envelope = Envelope(correlation_id=mid)
        result = {"tool_name": "web_search", "result": {"hits": [f"hit {number}", "another"]}}
        answer = Message(
            sender="", intent=Intent.COMPLETE, operation="tool", payload=result, schema="TC", envelope=envelope
        )
        for text in answering.send(answer, now):
            asking.receive(text, now)
        asking.texts_to_store()
        answering.texts_to_store()


def rate(counter: TokenCounter, options: SessionOptions = DRAFT, frames: int = 2_000) -> float:
    """Return how many frames are sent by one end and received by the other in a second of one processor's time."""
    asking, answering = begin("a", counter, options), begin("b", counter, options)
    talk(asking, answering, 0, frames)
    start = process_time()
    talk(asking, answering, frames, frames)
    return frames / (process_time() - start)


def memory(frames: int) -> list[tuple[int, int, int]]:
    """Return frames so far, bytes of both ends and things that they keep, after each tenth of `frames`."""
    gc.collect()
    tracemalloc.start()
    asking, answering = begin("a", quarter), begin("b", quarter)
    rows = []
    for part in range(10):
        talk(asking, answering, part * frames // 10, frames // 10)
        asking.handle_timer(NOW)
        gc.collect()
        kept = asking.size() + answering.size()
        rows.append(((part + 1) * frames // 10, tracemalloc.get_traced_memory()[0], kept))
    tracemalloc.stop()
    return rows


def main(frames: int = FRAMES) -> None:
    """Print the rate with counting by the real vocabulary and without counting, and the memory of two ends."""
    print(f"{'frames a second of processor time':<42}{'at each done':>14}{'when full':>14}")
    for name, counter in (("counted with o200k_base", o200k_base()), ("not counted", quarter)):
        rates = [rate(counter, options) for options in (DRAFT, WHEN_FULL)]
        print(f"{name + ', a checkpoint':<42}{rates[0]:>14,.0f}{rates[1]:>14,.0f}")
    print(f"{'frames':>10}{'KiB of both ends':>20}{'things kept':>14}")
    for done, size, kept in memory(frames):
        print(f"{done:>10,}{size / 1024:>20,.0f}{kept:>14,}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES)
