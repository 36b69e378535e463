"""What importing costs beside the framework alone: CPU time of new processes, the best of several, as ratios."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final, NamedTuple

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import plain_table

__all__ = ["STARTS", "Start", "main", "measure"]

_PROCESSES: Final = 10
_PROGRAM: Final = """
import sys, time
start = time.process_time()
exec(sys.argv[1])
between = time.process_time()
try:
    exec(sys.argv[2])
except SystemExit:
    pass
print(between - start, time.process_time() - between, time.process_time(), file=sys.stderr)
"""
"""One process takes both times, one after the other, so that what slows the machine down slows both."""
_COUNT: Final = "from accp_adapters.tokens import o200k_base; o200k_base()"


class Start(NamedTuple):
    """Something that a new process does."""

    name: str
    program: str
    """What is ours, with names that users import: a package alone imports nothing before a name is asked for."""
    framework: str = "pass"
    """What is not ours, and runs before."""
    target: str = "1.10"
    """The most that is asked: of milliseconds, or the ratio of both together to the framework alone."""


STARTS: Final = (
    Start("import accp_core", "import accp_core", target="60 ms"),
    Start("names for frames", "from accp_core import parse_frame, serialize_frame", target=""),
    Start("names for views", "from accp_core import render, read", target=""),
    Start("the first count", f"{_COUNT}('x')", "import accp_adapters.tokens", "150 ms"),
    Start("one with two blanks, too", f"{_COUNT}('x'); {_COUNT}('x  y')", "import accp_adapters.tokens", ""),
    Start("LangGraph", "from accp_adapters.langgraph import AccpMiddleware", "import langchain.agents"),
    Start("MCP", "from accp_adapters.mcp import Encoder, wrap_server", "import mcp"),
    Start(
        "A2A",
        "from accp_adapters.a2a import AccpClientInterceptor, AccpRequestHandler",
        "import a2a.client, a2a.server.request_handlers",
    ),
    Start("OpenAI Agents SDK", "import accp_adapters.frameworks.openai_agents", "import agents"),
    Start("Pydantic AI", "import accp_adapters.frameworks.pydantic_ai", "import pydantic_ai"),
    Start(
        "accp --help",
        "import sys; sys.argv[1:] = ['--help']; from accp_adapters.cli import main; main()",
        "import typer.rich_utils",
        "200 ms in all",
    ),
)


def measure(start: Start, processes: int = _PROCESSES) -> tuple[float, float, float]:
    """Return the milliseconds of CPU time of the framework, of what is ours behind it, and of the whole process.

    Each is the least of several processes.
    """
    rows = [_times(start) for _ in range(processes)]
    framework, ours, whole = (min(column) for column in zip(*rows, strict=True))
    return framework, ours, whole


def _times(start: Start) -> list[float]:
    command = [sys.executable, "-c", _PROGRAM, start.framework, start.program]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    # Without compiled modules each process would compile them again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [1_000 * float(seconds) for seconds in run.stderr.split()[-3:]]


def main() -> None:
    """Print the table; the first, uncounted process writes the compiled modules."""
    lines = []
    for start in STARTS:
        measure(start, 1)
        framework, ours, whole = measure(start)
        ratio = f"{(framework + ours) / framework:.2f}" if start.framework != "pass" else ""
        lines.append((start.name, f"{ours:.0f}", f"{framework:.0f}", ratio, f"{whole:.0f}", start.target))
    columns = ("", "ours, ms", "framework, ms", "both / framework", "process, ms", "target")
    title = f"CPU time of imports and starts, the best of {_PROCESSES} processes"
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(plain_table(title, columns, lines))
