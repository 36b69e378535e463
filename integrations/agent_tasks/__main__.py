"""`python -m integrations.agent_tasks`: whether agents come to the right answer in each arm, and what that takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from accp_adapters.cli.output.task_tables import print_tasks
from accp_adapters.cli.price_options import read_budget
from accp_adapters.tokens import o200k_base
from integrations.agent_tasks.chat.models import task_model
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
            help="without, compact, lossless, default, tight, deepagents, context_editing, or limits such as 1000:700; "
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
    max_cost: Annotated[float | None, typer.Option(min=0, help="Money after which no further task is begun.")] = None,
    price: Annotated[
        str, typer.Option(help="Of a million tokens: `3,15`, or input,read,write,output as `3,0.3,3.75,15`, or a file.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Let a LangGraph agent do tasks of several steps, without the middleware and with it; code checks the answers.

    `scripted` is a model without weights that knows how each task is done and of the data only what its prompt shows;
    it needs no key and costs nothing. Nothing is sent but to the model that you name.
    """
    budget = read_budget(max_tokens, max_cost, price)
    try:
        arms = {"arms": tuple(arm)} if arm else {}
        options = TaskOptions(names=tuple(task or ()), seed=seed, size=size, folder=folder, **arms)
        report = evaluate_tasks(
            task_model(model, tasks=options.tasks(), counter=o200k_base(), base_url=base_url),
            options=options,
            model_name=model,
            run_file=run_file,
            concurrency=concurrency,
            budget=budget,
        )
    except (ImportError, OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=1))
    else:
        console = Console()
        print_tasks(report, console if console.is_terminal else Console(width=150), budget.prices)
    if not report.arms:
        typer.echo("No task was run: --max-tokens or --max-cost was reached before the first.", err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
