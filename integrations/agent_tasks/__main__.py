"""`python -m integrations.agent_tasks`: whether agents come to the right answer in each arm, and what that takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from accp_adapters.tokens import o200k_base
from integrations.agent_tasks.chat.models import task_model
from integrations.agent_tasks.report import ArmFigures, Report
from integrations.agent_tasks.run import TaskOptions, evaluate_tasks

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def tasks(
    *,
    model: Annotated[
        str, typer.Option(help="`provider:name` as init_chat_model takes it, `mailbox:FOLDER`, or `scripted`.")
    ],
    base_url: Annotated[str | None, typer.Option(help="The address of an OpenAI-compatible server.")] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            help="without, compact, lossless, default, deepagents, context_editing, or limits such as 1000:700; "
            "repeatable, the first is the baseline."
        ),
    ] = None,
    task: Annotated[list[str] | None, typer.Option(help="The name of a task; repeatable; without one: all.")] = None,
    seed: Annotated[int, typer.Option(help="Of the made world.")] = 0,
    size: Annotated[float, typer.Option(help="Of the made world: 1.0 has lists of up to 40,000 tokens.")] = 1.0,
    folder: Annotated[
        Path | None, typer.Option(help="Of tasks over tool results of your own (tasks.json, documents/).")
    ] = None,
    run_file: Annotated[
        Path | None, typer.Option("--out", help="Keeps what came of each task; a run goes on where it stopped.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Tasks at once.")] = 1,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens after which no further task is begun.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Let a LangGraph agent do tasks of several steps, without the middleware and with it; code checks the answers.

    `scripted` is a model without weights that knows how each task is done and of the data only what its prompt shows;
    it needs no key and costs nothing. Nothing is sent but to the model that you name.
    """
    try:
        arms = {"arms": tuple(arm)} if arm else {}
        options = TaskOptions(names=tuple(task or ()), seed=seed, size=size, folder=folder, **arms)
        report = evaluate_tasks(
            task_model(model, tasks=options.tasks(), counter=o200k_base(), base_url=base_url),
            options=options,
            model_name=model,
            run_file=run_file,
            concurrency=concurrency,
            max_tokens=max_tokens,
        )
    except (ImportError, OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=1))
    else:
        console = Console()
        _print(report, console if console.is_terminal else Console(width=150))


def _print(report: Report, console: Console) -> None:
    """Print what came out in each arm, by kind and by task."""
    first, *_ = [*report.arms, None]
    figures = Table("arm", "right", "calls", "%", "fetches", "prompt tokens", "%", "weighted by a cache", "%", "output")
    for arm in report.arms:
        assert first is not None
        numbers = [f"{arm.calls:,}", _percent(arm.calls, first.calls), f"{arm.fetches:,}"]
        numbers += [f"{arm.tokens:,}", _percent(arm.tokens, first.tokens)]
        numbers += [f"{arm.cost:,.0f}", _percent(arm.cost, first.cost), f"{arm.output:,}"]
        figures.add_row(arm.arm, f"{arm.right}/{arm.tasks}", *numbers)
    console.print(figures)
    names = [arm.arm for arm in report.arms]
    for title, rows in (("kind", report.by_kind), ("task", report.by_task)):
        table = Table(title, *names, caption="right, model calls, prompt tokens")
        for row, arms in rows.items():
            table.add_row(row, *(_cell(arms.get(name)) for name in names))
        console.print(table)


def _cell(figures: ArmFigures | None) -> str:
    return f"{figures.right}/{figures.tasks} {figures.calls} {figures.tokens:,}" if figures else "-"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


if __name__ == "__main__":
    app()
