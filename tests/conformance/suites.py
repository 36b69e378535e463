"""The suites of others, which are no part of this repository: each runs where a variable names it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Final

__all__ = ["outcomes"]

SUITES: Final = (
    ("ACP's reference", "ACP_REFERENCE", "a checkout of Kickflip73/agent-communication-protocol at 10d4279",
     "tests.harness.interop.acp"),
    ("A2A's TCK", "A2A_TCK", "a checkout of a2aproject/a2a-tck, branch 1.0-dev", "tests.harness.tck"),
    ("MCP's suite", "MCP_SUITE", "1 (or run `make conformance-mcp`; needs npm)",
     "tests.harness.mcp_suite.suite"),
)  # fmt: skip
"""What it is, the variable with its arguments, what that holds, and the module that runs it."""


def outcomes() -> Iterator[tuple[str, bool]]:
    """Yield a line for each suite, and whether it did not fail."""
    for name, variable, value, module in SUITES:
        given = os.environ.get(variable)
        if not given:
            yield f"{name}: not run, {variable} is not set; expected {value}", True
            continue
        code = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", module, *shlex.split(given)], check=False
        ).returncode
        yield f"{name}: {'failed' if code else 'passed'}, exit code {code}", code == 0
