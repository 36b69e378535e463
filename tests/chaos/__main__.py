"""`python -m tests.chaos [store…]`: CHAOS_KILLS (1000) deaths (SIGKILL), at every access of every store in turn.

What must hold: nothing that was acknowledged is lost, no reference dangles, nothing is answered twice.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests import servers
from tests.chaos.deaths import STORES, deaths, worker

__all__ = ["main"]

SERVERS: dict[str, Any] = {
    "redis": servers.redis_server,
    "postgres": servers.postgres,
    "nats": servers.nats_server,
}


def main(names: list[str]) -> int:
    """Kill in each store, in all for none; return 1 where something was lost, dangles or was answered twice."""
    wanted = int(os.environ.get("CHAOS_KILLS", "1000"))
    killed: Counter[str] = Counter()
    wrong: list[tuple[str, Any]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        names = names or list(STORES)
        needed = {STORES[name][1] for name in names}
        places = {name: stack.enter_context(server()) for name, server in SERVERS.items() if name in needed}
        # Most of a death is waiting, for a lease or a disk: all stores at once.
        forkers = {name: stack.enter_context(worker()) for name in names}
        pool = stack.enter_context(ThreadPoolExecutor(len(names)))

        def at_every_place(name: str) -> None:
            kind, server = STORES[name]
            address = places.get(server, f"sqlite:{folder / kind}.sqlite")
            for found in deaths(forkers[name], kind, address):
                killed[name] += 1
                wrong.extend((name, fault) for fault in found["wrong"])
                print(f"{killed.total():,} deaths, {len(wrong)} wrong", file=sys.stderr, flush=True)

        while killed.total() < wanted:
            list(pool.map(at_every_place, names))
    for name, times in killed.items():
        print(f"{name:<22}{times:>6} deaths")
    print(f"{killed.total():,} deaths, {len(wrong)} wrong: {wrong[:10]}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
