"""Runs A2A's own test suite (a2aproject/a2a-tck, branch 1.0-dev) against the fixture agent, plain and with frames.

    python -m tests.harness.tck CHECKOUT [--plain] [--transport jsonrpc,http_json,grpc] …

CHECKOUT is a folder with the suite, set up as its README says (`pip install -e .` in an environment of its own, whose
interpreter `--python` names). Nothing of the suite is in this repository. Other options go to the suite (`--level
must`). The exit code is the suite's; the numbers of all legs are the same:

    (none)    the agent offers frames, and the suite does not ask for them
    --plain   the agent does not know frames
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.adapters.a2a.serve import negotiating, plain, serve

__all__ = ["main"]


async def run(extra: Sequence[str], asked: argparse.Namespace) -> int:
    """Serve the agent, run the suite, return its exit code."""
    checkout = asked.checkout.resolve()
    script = checkout / "run_tck.py"
    if not script.is_file():
        print(f"expected a checkout of a2a-tck with run_tck.py, found {str(checkout)!r}", file=sys.stderr)
        return 2
    async with serve(plain if asked.plain else negotiating) as served:
        command = [asked.python, script.name, "--sut-host", served.url, "--transport", asked.transport, *extra]
        suite = await asyncio.create_subprocess_exec(*command, cwd=checkout)
        return await suite.wait()


def main(arguments: Sequence[str]) -> int:
    """Read the command line and run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkout", type=Path)
    options.add_argument("--python", default=sys.executable, help="the interpreter that has the suite's packages")
    options.add_argument("--transport", default="jsonrpc,http_json,grpc")
    options.add_argument("--plain", action="store_true")
    asked, extra = options.parse_known_args(arguments)
    return asyncio.run(run(extra, asked))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
