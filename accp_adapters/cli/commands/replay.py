"""`accp replay`: recorded runs replayed with the middleware."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.sources import read_source, write_text

if TYPE_CHECKING:
    from accp_adapters.replay import Report, Run

__all__ = ["replay"]


class Format(StrEnum):
    """How a run is written; the same as `RunFormat`, without importing a tokenizer for `--help`."""

    OPENAI = "openai"
    LANGCHAIN = "langchain"
    TRAJECTORIES = "trajectories"


def replay(
    files: Annotated[list[str], typer.Argument(help="Recorded runs, JSON or JSONL; `-` is standard input.")],
    *,
    run_format: Annotated[
        Format | None,
        typer.Option("--format", help="How the runs are written; without it, found from the content."),
    ] = None,
    lossless: Annotated[
        bool, typer.Option("--lossless", help="Use Policy.lossless(): no previews, no fetch tool.")
    ] = False,
    tight: Annotated[bool, typer.Option("--tight", help="Use Policy.tight(): previews of all long texts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0: as many as are useful.")] = 0,
) -> None:
    """Compare the tokens that recorded runs sent with those that they would have sent with the middleware.

    For each model call the report has the tokens of its prompt, their cost with a provider's prompt cache (a cached
    token costs 0.1, any other 1.25), and how many of the values that the model went on to use are visible in the
    prompt or one fetch away. The definition of the fetch tool counts in every prompt that shows a reference. A text
    that was sent never changes in a later prompt.

    Formats: OpenAI chat messages, LangChain messages (`messages_to_dict`, `dumps`) and trajectory files.

    Example: `accp replay conversation.json`

    Example: `accp replay runs/*.jsonl --json | jq .total`
    """
    if lossless and tight:
        raise typer.BadParameter("expected one of --lossless and --tight, found both")
    report = _replay_runs(_read(files, run_format), "lossless" if lossless else "tight" if tight else "default", jobs)
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


def _replay_runs(runs: list[Run], policy: str, jobs: int) -> Report:
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
    # A file or a pipe has no width; in the default of 80 columns names would be cut.
    print_report(report, console if console.is_terminal else Console(width=110))
