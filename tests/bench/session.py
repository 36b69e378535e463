"""How many frames a session takes a second, and what it keeps of them: `python -m tests.bench.session [frames]`."""

import gc
import sys
import tracemalloc
from itertools import count
from time import perf_counter

from accp_adapters.tokens import o200k_base
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope
from accp_core.accp.message import Message
from accp_core.accp.session.session import Session
from accp_core.accp.vocabulary import Intent
from accp_core.ports import TokenCounter
from tests.bench.codec import quarter

FRAMES = 10_000
NOW = 1_714_000_000


def begin(name: str, counter: TokenCounter) -> Session:
    """Return one end of a session."""
    ids = count(1)
    codec = Codec(counter=counter, limits=PRACTICAL_LIMITS)
    return Session("bench", name, codec=codec, new_id=lambda: f"{name}{next(ids):011x}")


def talk(asking: Session, answering: Session, first: int, frames: int) -> None:
    """Ask and answer; each answer takes a checkpoint at both ends."""
    for number in range(first, first + frames // 2):
        now = NOW + number
        payload = {"tool_name": "web_search", "arguments": {"query": f"agent protocols {number}", "max": 5}}
        request = Message(sender="", intent=Intent.REQUEST, operation="tool", payload=payload, schema="TC")
        for text in asking.send(request, now):
            answering.receive(text, now)
            mid = text[text.index("mid:") + 4 :].split(",", 1)[0]
        envelope = Envelope(correlation_id=mid)
        result = {"tool_name": "web_search", "result": {"hits": [f"hit {number}", "another"]}}
        answer = Message(
            sender="", intent=Intent.COMPLETE, operation="tool", payload=result, schema="TC", envelope=envelope
        )
        for text in answering.send(answer, now):
            asking.receive(text, now)
        asking.texts_to_store()
        answering.texts_to_store()


def rate(counter: TokenCounter, frames: int = 2_000) -> float:
    """Return how many frames a second are sent by one end and received by the other."""
    asking, answering = begin("a", counter), begin("b", counter)
    talk(asking, answering, 0, frames)
    start = perf_counter()
    talk(asking, answering, frames, frames)
    return frames / (perf_counter() - start)


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
    for name, counter in (("counted with o200k_base", o200k_base()), ("not counted", quarter)):
        print(f"{'frames a second, ' + name:<42}{rate(counter):>10,.0f}")
    print(f"{'frames':>10}{'KiB of both ends':>20}{'things kept':>14}")
    for done, size, kept in memory(frames):
        print(f"{done:>10,}{size / 1024:>20,.0f}{kept:>14,}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES)
