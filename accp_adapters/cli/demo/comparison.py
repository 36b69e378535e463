"""The demonstration from start to end: two runs, the table that compares them, two transcripts and a report."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import typer
from langchain_core.language_models import BaseChatModel
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from accp_adapters.cli.demo.agent_runs import AgentRun, compare_needed_values, run_job
from accp_adapters.cli.demo.snapshot import read_folder
from accp_adapters.cli.demo.transcript import write_transcript
from accp_adapters.cli.html_file import write_html
from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.cli.sources import printable
from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.replay import Findings, Report, StrategyName, replay_all
from accp_adapters.tokens import o200k_base

__all__ = ["show_demo"]

_MAX_SHOWN: Final = 600
"""Characters of a result that the terminal shows."""
_COLUMNS: Final = ("the model calls", "without", "with", "%")


def show_demo(model: BaseChatModel, folder: Path, output: Path | None, *, scripted: bool) -> bool:
    """Do the job twice, print the comparison and write the transcripts and a report.

    Args:
        model: The chat model of both runs.
        folder: The folder whose files the agent works on.
        output: The folder for these files; None: a new one, for this user only, in the temporary folder.
        scripted: Whether the model gives the same answer to the same facts, so that the answers must be equal.

    Returns:
        Whether both runs give the same answer; of a real model, which words every answer anew, whether both give one.

    Raises:
        typer.BadParameter: the folder has no text files.
    """
    # Answers and paths are data: no markup, no emoji codes.
    console = Console(markup=False, emoji=False, highlight=False)
    snapshot = read_folder(folder)
    if not snapshot.files:
        raise typer.BadParameter(f"expected text files in {folder}, found none", param_hint="--folder")
    console.print(f"A LangGraph agent writes a hand-over note about {folder} ({len(snapshot.files):,} text files).")
    console.print(f"The model is {'a script, which needs no key' if scripted else 'yours'}.\n")
    with console.status("the agent works without the middleware …"):
        without = run_job(model, snapshot, None)
    with console.status("the agent works with the middleware …"):
        with_us = run_job(model, snapshot, AccpMiddleware())
    console.print(plain_table("tokens of each prompt (o200k_base)", _COLUMNS, _table_rows(without, with_us)))
    if scripted:
        console.print(_readable(without, with_us))
    console.print(_largest_result(without, with_us))
    console.print(_verdict(without, with_us, scripted=scripted))
    # A fixed name in the shared temporary folder could belong to another user of the machine.
    target = output or Path(tempfile.mkdtemp(prefix="accp-demo-"))
    for name, run in (("without.md", without), ("with.md", with_us)):
        _write(target, name, run)
    console.print(f"Transcripts: {target / 'without.md'}\n             {target / 'with.md'}", soft_wrap=True)
    write_html(target / "report.html", _reports(without), Findings(), None)
    return without.answer == with_us.answer if scripted else bool(without.answer and with_us.answer)


def _reports(without: AgentRun) -> list[Report]:
    """Return the reports of the run without the middleware, replayed under each policy."""
    names = (StrategyName.DEFAULT, StrategyName.LOSSLESS, StrategyName.TIGHT)
    ((before, *others),) = replay_all([without.run], (StrategyName.AS_RECORDED, *names), processes=1, texts=True)
    return [Report.of([(before, after)]) for after in others]


def _table_rows(without: AgentRun, with_us: AgentRun) -> list[tuple[str, ...]]:
    return [
        *(_table_row(*row) for row in _aligned_calls(without, with_us)),
        _table_row("all prompts", without.tokens, with_us.tokens),
        _table_row("cache-weighted cost", without.cost, with_us.cost),
    ]


def _table_row(name: str, without: float | None, with_us: float | None) -> tuple[str, ...]:
    share = percent(with_us, without) if with_us and without else "-"
    return name, *("-" if number is None else f"{number:,.0f}" for number in (without, with_us)), share


def _aligned_calls(without: AgentRun, with_us: AgentRun) -> list[tuple[str, int | None, int | None]]:
    """Return name and tokens of the calls of both runs side by side; a fetch has no counterpart."""
    counterparts = _named_tokens(without)
    rows: list[tuple[str, int | None, int | None]] = []
    for name, tokens in _named_tokens(with_us):
        counterpart = counterparts.pop(0)[1] if counterparts and name != FETCH_NAME else None
        rows.append((name, counterpart, tokens))
    return [*rows, *((name, tokens, None) for name, tokens in counterparts)]


def _named_tokens(run: AgentRun) -> list[tuple[str, int]]:
    return list(zip(run.call_names(), (call.charge.tokens for call in run.calls), strict=True))


def _readable(without: AgentRun, with_us: AgentRun) -> str:
    values = compare_needed_values(without, with_us)
    visible = percent(sum(value.visible for value in values), len(values))
    reachable = percent(sum(value.reachable for value in values), len(values))
    return (
        f"Of {len(values):,} values that it took from tool results {visible} % are visible in its prompts, "
        f"{reachable} % visible or one fetch away. Fetches: {with_us.call_names().count(FETCH_NAME)}."
    )


def _largest_result(without: AgentRun, with_us: AgentRun) -> RenderableType:
    """Return the largest tool result side by side, as the last prompt of each run has it."""
    count = o200k_base()
    shown = {result.tool_call_id: result.text for result in with_us.results()}
    found = [each for each in without.results() if each.tool_call_id in shown]
    if not found:
        return ""
    largest = max(found, key=lambda result: len(result.text))
    texts = (largest.text, shown[largest.tool_call_id])
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), expand=True)
    for name, text in zip(("without", "with"), texts, strict=True):
        table.add_column(f"{name}: {count(text):,} tokens", ratio=1, overflow="fold")
    table.add_row(*(Text(printable(_beginning(text))) for text in texts))
    return Group(f"\nwhat the model read of the largest result, of {largest.name}", table)


def _beginning(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}… ({len(text) - _MAX_SHOWN:,} characters more)"


def _verdict(without: AgentRun, with_us: AgentRun, *, scripted: bool) -> str:
    if without.answer == with_us.answer:
        return f"The same final answer:\n\n{without.answer}\n"
    title = "The final answers differ" if scripted else "The model's two answers"
    return f"{title}.\n\nwithout:\n{without.answer}\n\nwith:\n{with_us.answer}\n"


def _write(output: Path, name: str, run: AgentRun) -> None:
    output.mkdir(parents=True, exist_ok=True)
    title = f"{name.removesuffix('.md')} the middleware: {run.tokens:,} tokens in {len(run.calls)} prompts"
    write_transcript(output / name, title, run.conversation(), o200k_base())
