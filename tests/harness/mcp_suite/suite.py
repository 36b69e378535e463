"""MCP's own conformance suite, run against our server alone and through us.

`python -m tests.harness.mcp_suite.suite` prints the outcome. The suite is an npm package that needs Node 22;
where the machine's Node is older, npm has a newer one. Both are installed once, beside the virtual environment's own
packages. Behind us a server must behave as it does alone, so the outcome of each check is compared, not their number.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from mcp.server import Server

from accp_adapters.mcp import Decoder, Encoder, wrap_server
from accp_adapters.mcp.upstream import Upstream
from tests.adapters.mcp.real_servers.registries import from_npm
from tests.adapters.mcp.serving import proxying, serving
from tests.harness.mcp_suite.server import build, http_app
from tests.limits import PATIENCE, PROGRAM_PATIENCE

__all__ = ["LEGS", "Checks", "failed", "install", "run_leg", "run_until"]

SUITE: Final = "@modelcontextprotocol/conformance"
VERSION: Final = "0.2.0-alpha.12"
NODE: Final = "22.23.3"
_RUNS: Final = 3
# A folder is called after its scenario and the time.
_TIME: Final = re.compile(r"-\d{4}-\d\d-\d\dT[-\dZ]+$")

Checks: TypeAlias = dict[str, list[tuple[str, str]]]
"""Scenario to the ids of its checks and how each went."""


def install() -> list[str]:
    """Return the words that begin a run of the suite, installing it where it is not there yet.

    Raises:
        Missing: there is no npm, or no registry.
    """
    packages = (f"node@{NODE}", f"{SUITE}@{VERSION}")
    return [str(from_npm("conformance", packages, path)) for path in (".bin/node", f"{SUITE}/dist/index.js")]


def _served(server: Server[Any], stack: ExitStack) -> str:
    return stack.enter_context(serving(http_app(server), lifespan="on")) + "/mcp"


def _plain(stack: ExitStack) -> str:
    return _served(build(), stack)


def _wrapped(stack: ExitStack) -> str:
    return _served(wrap_server(build()), stack)


def _proxied(stack: ExitStack) -> str:
    return stack.enter_context(proxying(Upstream(url=_plain(stack)), Encoder))


def _chained(stack: ExitStack) -> str:
    # Every result that can be is sent as a frame, also where that is longer.
    framing = stack.enter_context(proxying(Upstream(url=_plain(stack)), lambda: Encoder(min_gain=-1_000_000)))
    return stack.enter_context(proxying(Upstream(url=framing), Decoder))


LEGS: Final[Mapping[str, Mapping[str, Callable[[ExitStack], str]]]] = MappingProxyType(
    {
        "2025-11-25": {"plain": _plain, "wrapped": _wrapped, "proxied": _proxied, "decoder to encoder": _chained},
        # Over HTTP the proxy speaks the era of `initialize`.
        "2026-07-28": {"plain": _plain, "wrapped": _wrapped},
    }
)
"""How the suite meets the server, by era."""


def run_leg(leg: str, era: str, suite: list[str]) -> Checks:
    """Return how each check of `era` goes where the suite meets the server as `leg` says."""
    with ExitStack() as stack:
        url = LEGS[era][leg](stack).replace("127.0.0.1", "localhost")
        output = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        words = [*suite, "server", "--url", url, "--requirements", era, "--output-dir", str(output)]
        words += ["--timeout", str(int(1000 * PATIENCE))]
        subprocess.run(words, capture_output=True, timeout=PROGRAM_PATIENCE, check=False)
        return dict(_checks(path) for path in sorted(output.glob("*/checks.json")))


def run_until(is_right: Callable[[Checks], object], leg: str, era: str, suite: list[str]) -> Checks:
    """Return how each check goes, from the first of a few runs that is right or from the last one.

    The suite has limits of its own, 2 and 5 seconds, which a busy machine exceeds; a fault of ours fails every run.
    """
    for _ in range(_RUNS):
        checks = run_leg(leg, era, suite)
        if is_right(checks):
            break
    return checks


def _checks(path: Path) -> tuple[str, list[tuple[str, str]]]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return _TIME.sub("", path.parent.name), sorted((check["id"], check["status"]) for check in found)


def failed(checks: Checks) -> list[str]:
    """Return the scenarios with a failed check, less those of the tasks extension, which nobody here offers."""
    return [
        scenario
        for scenario, found in checks.items()
        if not scenario.startswith("server-tasks-") and any(status == "FAILURE" for _, status in found)
    ]


def main() -> None:
    """Print how many checks of each era pass and fail on each leg."""
    suite = install()
    for era in LEGS:
        for leg in LEGS[era]:
            checks = run_leg(leg, era, suite)
            statuses = [status for found in checks.values() for _, status in found]
            passed, bad = statuses.count("SUCCESS"), statuses.count("FAILURE")
            print(f"{era}  {leg:<26}{len(checks):>4} scenarios {passed:>4} passed {bad:>4} failed  {failed(checks)}")


if __name__ == "__main__":
    main()
