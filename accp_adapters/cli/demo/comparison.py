"""The demonstration from start to end: two runs, one table, two transcripts."""

from __future__ import annotations

from pathlib import Path

import typer
from langchain_core.language_models import BaseChatModel
from rich.console import Console

from accp_adapters.cli.demo.agent_runs import Done, compare_needs, do_job
from accp_adapters.cli.demo.snapshot import read_folder
from accp_adapters.cli.demo.tool_answers import FETCH
from accp_adapters.cli.demo.transcript import write_transcript
from accp_adapters.inspector.tables import percent, plain_table
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.tokens import o200k_base

__all__ = ["show_demo"]


def show_demo(model: BaseChatModel, folder: Path, output: Path, *, scripted: bool) -> bool:
    """Do the job twice over `folder`, print the comparison, write the transcripts to `output`.

    Returns whether both runs came to the same answer; for a real model, which words things anew each time,
    whether both came to one.

    Raises:
        typer.BadParameter: the folder holds no text files.
    """
    # Answers and paths are data: no markup, no emoji codes.
    console = Console(markup=False, emoji=False, highlight=False)
    snapshot = read_folder(folder)
    if not snapshot.files:
        raise typer.BadParameter(f"{folder} holds no text files", param_hint="--folder")
    console.print(f"A LangGraph agent writes a hand-over note about {folder} ({len(snapshot.files):,} text files).\n")
    without = do_job(model, snapshot, None)
    with_us = do_job(model, snapshot, AccpMiddleware())
    console.print(plain_table("tokens of each prompt (o200k_base)", _COLUMNS, _rows(without, with_us)))
    if scripted:
        console.print(_readable(without, with_us))
    same = without.answer == with_us.answer if scripted else bool(without.answer and with_us.answer)
    console.print(_verdict(without, with_us, scripted=scripted))
    for name, done in (("without.md", without), ("with.md", with_us)):
        _write(output, name, done)
    console.print(f"Transcripts: {output / 'without.md'}\n             {output / 'with.md'}", soft_wrap=True)
    return same


_COLUMNS = ("the model calls", "without", "with", "%")


def _rows(without: Done, with_us: Done) -> list[tuple[str, ...]]:
    rows = [_row(*pair) for pair in _aligned(without, with_us)]
    rows.append(("all prompts", f"{without.tokens:,}", f"{with_us.tokens:,}", percent(with_us.tokens, without.tokens)))
    rows.append(
        (
            "cache-weighted cost",
            f"{without.cost:,.0f}",
            f"{with_us.cost:,.0f}",
            percent(with_us.cost, without.cost),
        )
    )
    return rows


def _aligned(without: Done, with_us: Done) -> list[tuple[str, int | None, int | None]]:
    """Return the calls of both runs side by side: one that only fetches has no counterpart."""
    plain = list(zip(without.says(), (call.charge.tokens for call in without.calls), strict=True))
    ours = list(zip(with_us.says(), (call.charge.tokens for call in with_us.calls), strict=True))
    rows: list[tuple[str, int | None, int | None]] = []
    for said, tokens in ours:
        counterpart = plain.pop(0) if plain and said != FETCH else None
        rows.append((said, counterpart[1] if counterpart else None, tokens))
    return [*rows, *((said, tokens, None) for said, tokens in plain)]


def _row(said: str, without: int | None, with_us: int | None) -> tuple[str, ...]:
    share = percent(with_us, without) if with_us and without else "-"
    return said, *("-" if n is None else f"{n:,}" for n in (without, with_us)), share


def _readable(without: Done, with_us: Done) -> str:
    needs = compare_needs(without, with_us)
    visible = percent(sum(need.visible for need in needs), len(needs))
    reachable = percent(sum(need.reachable for need in needs), len(needs))
    fetches = sum(said == FETCH for said in with_us.says())
    return (
        f"Of {len(needs):,} values that it took from tool results {visible} % are visible in its prompts, "
        f"{reachable} % visible or one fetch away. Fetches: {fetches}."
    )


def _verdict(without: Done, with_us: Done, *, scripted: bool) -> str:
    if without.answer == with_us.answer:
        return f"The same final answer:\n\n{without.answer}\n"
    what = "The final answers differ" if scripted else "The model's two answers"
    return f"{what}.\n\nwithout:\n{without.answer}\n\nwith:\n{with_us.answer}\n"


def _write(output: Path, name: str, done: Done) -> None:
    output.mkdir(parents=True, exist_ok=True)
    title = f"{name.removesuffix('.md')} the middleware: {done.tokens:,} tokens in {len(done.calls)} prompts"
    write_transcript(output / name, title, done.messages, o200k_base())
