"""`python -m tests.harness.chaos [store…]`: CHAOS_KILLS (1000) deaths (SIGKILL), at each access of each store.

CHAOS_LANES (4): so many deaths of each store at once; most of a death is waiting, for a lease or a disk.

What must hold: nothing that was acknowledged is lost, no reference dangles, nothing is answered twice. The table is
printed also where the run is stopped; a run that was stopped, or did not come to every store, ends with 1.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

from tests import servers
from tests.harness.chaos.deaths import STORES, Worker, deaths, prepare, worker

__all__ = ["main"]

SERVERS: dict[str, Any] = {"redis": servers.redis_server, "postgres": servers.postgres}


class Toll:
    """The deaths so far, and what was wrong after one."""

    def __init__(self, names: Sequence[str], wanted: int) -> None:
        """Count from nothing."""
        self.killed = dict.fromkeys(names, 0)
        self.wrong: list[tuple[str, str]] = []
        self.rounds = 0
        """How often every place of every store was died at."""
        self._wanted = wanted

    @property
    def total(self) -> int:
        """Return the deaths in all stores."""
        return sum(self.killed.values())

    @property
    def is_done(self) -> bool:
        """Return whether there were as many as wanted, and one at every place."""
        return self.rounds > 0 and self.total >= self._wanted

    def add(self, name: str, wrong: Sequence[str]) -> None:
        """Count a death."""
        self.killed[name] += 1
        self.wrong.extend((name, fault) for fault in wrong)
        print(f"{self.total:,} deaths, {len(self.wrong)} wrong", file=sys.stderr, flush=True)

    def show(self) -> int:
        """Print the table and the verdict; return the exit code."""
        for name, times in self.killed.items():
            print(f"{name:<22}{times:>6} deaths")
        verdict = "" if self.is_done else f", stopped before {self._wanted:,}"
        print(f"{self.total:,} deaths, {len(self.wrong)} wrong{verdict}: {self.wrong[:10]}", flush=True)
        return int(bool(self.wrong) or not self.is_done)


def kill(toll: Toll, forker: Worker, addresses: dict[str, str], lanes: int) -> None:
    """Kill at every place of every store, again and again."""
    lanes_of_stores = [(name, lane) for name in addresses for lane in range(1, lanes + 1)]

    def at_every_place(name: str, lane: int) -> None:
        for found in deaths(forker, STORES[name][0], addresses[name], count(lane, lanes)):
            toll.add(name, found["wrong"])
            if toll.is_done:
                return

    with ThreadPoolExecutor(len(lanes_of_stores)) as pool:
        while not toll.is_done:
            list(pool.map(at_every_place, *zip(*lanes_of_stores, strict=True)))
            toll.rounds += 1


def main(names: list[str]) -> int:
    """Kill in each store, in all for none; return 1 where something was lost, dangles or was answered twice."""
    names = names or list(STORES)
    toll = Toll(names, int(os.environ.get("CHAOS_KILLS", "1000")))
    # What ends the run early ends it with a table.
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: os._exit(toll.show()))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        needed = {STORES[name][1] for name in names}
        places = {name: stack.enter_context(server()) for name, server in SERVERS.items() if name in needed}
        addresses = {
            name: prepare(places.get(server, f"sqlite:{folder / kind}.sqlite"))
            for name, (kind, server) in STORES.items()
            if name in names
        }
        forker = stack.enter_context(worker())
        kill(toll, forker, addresses, int(os.environ.get("CHAOS_LANES", "4")))
    return toll.show()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
