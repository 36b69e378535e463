"""Runs A2A's own test suite (a2aproject/a2a-tck, branch 1.0-dev) against the fixture agent, plain and with frames.

    python -m tests.harness.tck CHECKOUT [--plain | --ask] [--transport jsonrpc,http_json,grpc] …

CHECKOUT is a folder with the suite, set up as its README says (`pip install -e .` in an environment of its own, whose
interpreter `--python` names). Nothing of the suite is in this repository. Other options go to the suite (`--level
must`). The exit code is the suite's; the numbers of all legs are the same:

    (none)    the agent offers frames, and the suite does not ask for them
    --plain   the agent does not know frames
    --ask     the suite's clients are patched to ask for frames with every call; as they cannot read them, everything
              that the agent is sent and sends is encoded, all of it as frames, and decoded again inside the server
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from accp_adapters.a2a import EXTENSION
from tests.adapters.a2a.serve import negotiating, plain, round_trip, serve

__all__ = ["main"]


def asking_environment() -> dict[str, str]:
    """Return the environment of a suite whose clients ask for frames."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    options = f"{os.environ.get('PYTEST_ADDOPTS', '')} -p ask_for_frames".strip()
    path = os.pathsep.join(filter(None, paths))
    return {**os.environ, "PYTHONPATH": path, "PYTEST_ADDOPTS": options, "ACCP_EXTENSION": EXTENSION}


async def run(extra: Sequence[str], asked: argparse.Namespace) -> int:
    """Serve the agent, run the suite, return its exit code."""
    checkout = asked.checkout.resolve()
    script = checkout / "run_tck.py"
    if not script.is_file():
        print(f"expected a checkout of a2a-tck with run_tck.py, found {str(checkout)!r}", file=sys.stderr)
        return 2
    wrap = round_trip if asked.ask else plain if asked.plain else negotiating
    async with serve(wrap) as served:
        command = [asked.python, script.name, "--sut-host", served.url, "--transport", asked.transport, *extra]
        environment = asking_environment() if asked.ask else None
        suite = await asyncio.create_subprocess_exec(*command, cwd=checkout, env=environment)
        return await suite.wait()


def main(arguments: Sequence[str]) -> int:
    """Read the command line and run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkout", type=Path)
    options.add_argument("--python", default=sys.executable, help="the interpreter that has the suite's packages")
    options.add_argument("--transport", default="jsonrpc,http_json,grpc")
    legs = options.add_mutually_exclusive_group()
    legs.add_argument("--plain", action="store_true")
    legs.add_argument("--ask", action="store_true")
    asked, extra = options.parse_known_args(arguments)
    return asyncio.run(run(extra, asked))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
