"""Runs A2A's own test suite (a2aproject/a2a-tck, branch 1.0-dev) against the fixture agent, plain and with frames.

    python -m tests.adapters.a2a.tck CHECKOUT [--plain | --always] [--transport jsonrpc,http_json,grpc] [--level must]

CHECKOUT is a folder with the suite, set up as its README says (`pip install -e .` in an environment of its own, whose
interpreter `--python` names). Nothing of the suite is in this repository. The exit code is the suite's; compare the
numbers of a run with `--plain` with those of a run without.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.adapters.a2a.serve import always, negotiating, plain, serve

__all__ = ["main"]


async def run(python: str, checkout: Path, extra: Sequence[str], asked: argparse.Namespace) -> int:
    """Serve the agent, run the suite, return its exit code."""
    script = checkout / "run_tck.py"
    if not script.is_file():
        print(f"expected a checkout of a2a-tck with run_tck.py, found {str(checkout)!r}", file=sys.stderr)
        return 2
    async with serve(asked.wrap or negotiating) as served:
        command = [python, script.name, "--sut-host", served.url, "--transport", asked.transport, *extra]
        suite = await asyncio.create_subprocess_exec(*command, cwd=checkout)
        return await suite.wait()


def main(arguments: Sequence[str]) -> int:
    """Read the command line and run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkout", type=Path)
    options.add_argument("--python", default=sys.executable, help="the interpreter that has the suite's packages")
    options.add_argument("--transport", default="jsonrpc,http_json,grpc")
    ways = options.add_mutually_exclusive_group()
    ways.add_argument("--plain", action="store_const", const=plain, dest="wrap")
    ways.add_argument("--always", action="store_const", const=always, dest="wrap")
    asked, extra = options.parse_known_args(arguments)
    return asyncio.run(run(asked.python, asked.checkout.resolve(), extra, asked))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
