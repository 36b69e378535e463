"""`python -m tests.chaos`: CHAOS_KILLS (1000) deaths (SIGKILL), at every access of every store in turn.

What must hold: nothing that was acknowledged is lost, no reference dangles, nothing is answered twice.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
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


def main() -> int:
    """Kill, print a table of deaths, and return 1 where something was lost, dangles or was answered twice."""
    wanted = int(os.environ.get("CHAOS_KILLS", "1000"))
    killed: Counter[str] = Counter()
    wrong: list[tuple[str, Any]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = {name: stack.enter_context(server()) for name, server in SERVERS.items()}
        forker = stack.enter_context(worker())
        while killed.total() < wanted:
            for name, (kind, server) in STORES.items():
                address = places.get(server, f"sqlite:{folder / kind}.sqlite")
                for found in deaths(forker, kind, address):
                    killed[name] += 1
                    wrong += [(name, each) for each in found["wrong"]]
            print(dict(killed), wrong, file=sys.stderr, flush=True)
    for name, times in killed.items():
        print(f"{name:<22}{times:>6} deaths")
    print(f"{killed.total():,} deaths, {len(wrong)} wrong: {wrong[:10]}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
