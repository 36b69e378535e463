"""`accp replay`: what recorded runs would have sent with the middleware."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.sources import read_source, write_text

if TYPE_CHECKING:
    from accp_adapters.replay import Report, Run

__all__ = ["replay"]


class Format(StrEnum):
    """How a run is written down."""

    OPENAI = "openai"
    LANGCHAIN = "langchain"
    TRAJECTORIES = "trajectories"


def replay(
    files: Annotated[list[str], typer.Argument(help="Recorded runs, JSON or JSONL; `-` is standard input.")],
    *,
    run_format: Annotated[
        Optional[Format],  # noqa: UP045  typer reads the annotation
        typer.Option("--format", help="Found by looking at the content when not given."),
    ] = None,
    lossless: Annotated[
        bool, typer.Option("--lossless", help="Policy.lossless(): no previews, no fetch tool.")
    ] = False,
    tight: Annotated[bool, typer.Option("--tight", help="Policy.tight(): previews of what is long.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The whole report as JSON.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 is as many as make sense.")] = 0,
) -> None:
    """Count what recorded runs sent, what they would have sent with us, and what stayed readable.

    Tool results are rewritten once, when they are born; every agent reads nothing twice, and other agents' long
    words as a preview; what was sent never changes. Counted for each model call: the tokens of its prompt, their
    cost with a provider's prompt cache (a cached token 0.1, all others 1.25), and the values that the model went
    on to use: visible in its prompt, or behind a reference.

    The fetch tool's definition counts in every prompt that shows a reference.

    Reads OpenAI chat messages, LangChain messages (`messages_to_dict`, `dumps`) and trajectory files.

    Example: `accp replay conversation.json`

    Example: `accp replay runs/*.jsonl --json | jq .total`
    """
    if lossless and tight:
        raise typer.BadParameter("expected one of --lossless and --tight, found both")
    report = _replayed(_read(files, run_format), "lossless" if lossless else "tight" if tight else "default", jobs)
    if as_json:
        write_text(json.dumps(report.to_json(), indent=1))
    else:
        _print(report)


def _read(files: list[str], run_format: Format | None) -> list[Run]:
    from accp_adapters.replay import RunFormat, UnreadableRun, parse_runs

    chosen = RunFormat(run_format.value) if run_format else None
    try:
        return [run for file in files for run in parse_runs(read_source(file), path=file, run_format=chosen)]
    except UnreadableRun as error:
        raise InputRefused(error.reason, path=error.path, line=error.line, column=error.column) from error


def _replayed(runs: list[Run], policy: str, jobs: int) -> Report:
    from rich.console import Console
    from rich.progress import track

    from accp_adapters.replay import Report, StrategyName, replay_all

    replays = replay_all(runs, (StrategyName.AS_RECORDED, StrategyName(policy)), processes=jobs or None)
    console = Console(stderr=True)
    bar = track(replays, "replaying", total=len(runs), console=console, transient=True, disable=not console.is_terminal)
    try:
        return Report.of((before, after) for before, after in bar)
    except ImportError as error:
        raise ExtraMissing(f"the policy {policy}", extra="langgraph") from error


def _print(report: Report) -> None:
    from rich.console import Console

    from accp_adapters.inspector.tables import print_report

    console = Console()
    # A file or a pipe has no width of its own; 80 columns would cut names.
    print_report(report, console if console.is_terminal else Console(width=110))
