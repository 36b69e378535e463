"""`accp eval`: whether a model still knows what a text says when it reads a view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.groups import HelpGroup
from accp_adapters.cli.price_options import read_budget
from accp_adapters.cli.sources import write_text

if TYPE_CHECKING:
    from accp_adapters.evaluation import Document, Model, Report
    from accp_adapters.replay.prices import Prices
    from accp_core.ports import TokenCounter

__all__ = ["evaluation"]

evaluation = typer.Typer(
    cls=HelpGroup, help="Whether a model still knows what a text says when it reads a view.", no_args_is_help=True
)


@evaluation.command()
def reading(
    files: Annotated[
        list[Path] | None, typer.Argument(help="JSON documents, or folders of them; without one: the shipped 70.")
    ] = None,
    *,
    model: Annotated[
        str, typer.Option(help="`provider:name` as LangChain's init_chat_model takes it, or `mailbox:FOLDER`.")
    ],
    base_url: Annotated[str | None, typer.Option(help="The address of an OpenAI-compatible server.")] = None,
    form: Annotated[
        list[str] | None, typer.Option(help="json, view, readable or toon; repeatable, the first is the baseline.")
    ] = None,
    per_kind: Annotated[int, typer.Option(min=1, help="Questions of each kind about each document.")] = 1,
    batch: Annotated[int, typer.Option(min=1, max=50, help="Questions of one prompt.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the choice of questions.")] = 0,
    run_file: Annotated[
        Path | None, typer.Option("--out", help="Keeps each answer; a run goes on where it stopped.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Prompts at once.")] = 1,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens after which no further prompt is sent.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Money after which no further prompt is sent.")] = None,
    price: Annotated[str, typer.Option(help="Prices of a million tokens of prompts and of answers: `3,15`.")] = "",
    margin: Annotated[float, typer.Option(min=0, help="Points of 100 that the view may be below the baseline.")] = 3.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Ask a model questions about documents in compact JSON, as a view, as a readable view and in TOON.

    Questions are made from the data and the answers checked by code. Exit status 1 where the lower end of the view's
    95 % interval is more than three points below JSON. Nothing is sent but to the model that you name.

    Example: `accp eval reading --model openai:gpt-5-mini --out run.jsonl`

    Example: `accp eval reading orders.json --model mailbox:letters` writes each prompt to `letters/<key>.prompt.txt`
    and waits for `letters/<key>.answer.txt`
    """
    from accp_adapters.evaluation import evaluate
    from accp_adapters.evaluation.reading.run import ReadingOptions
    from accp_adapters.tokens import o200k_base

    counter, budget = o200k_base(), read_budget(max_tokens, max_cost, price)
    try:
        options = ReadingOptions(per_kind=per_kind, batch=batch, seed=seed, **({"forms": tuple(form)} if form else {}))
        report = evaluate(
            _model(model, counter, base_url),
            _documents(files),
            counter=counter,
            options=options,
            model_name=model,
            run_file=run_file,
            concurrency=concurrency,
            budget=budget,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except OSError as error:
        raise InputRefused(str(error), path=str(error.filename or run_file or model)) from error
    _print(report, budget.prices, as_json=as_json)
    if not report.is_within("view", margin):
        raise typer.Exit(1)


@evaluation.command()
def compare(
    before: Annotated[Path, typer.Argument(help="A run file.")],
    after: Annotated[Path, typer.Argument(help="Another one.")],
    *,
    form: Annotated[str, typer.Option(help="The form whose answers are compared.")] = "view",
) -> None:
    """Compare two runs of `reading`: the answers to what both asked, in one form."""
    from accp_adapters.evaluation import Report

    lines = []
    for path in (before, after):
        answers = _read_run(path).values()
        if form not in (known := dict.fromkeys(str(line["form"]) for line in answers)):
            expected = f"one of {', '.join(known)}, found {form!r}" if known else "answers, found None"
            raise typer.BadParameter(f"{path}: expected {expected}", param_hint="--form")
        lines += [{**line, "form": f"{path.name}: {form}"} for line in answers if line["form"] == form]
    _print(Report.of(lines), None, as_json=False)


def _read_run(path: Path) -> dict[str, dict[str, Any]]:
    """Return the answers of a run of `reading`."""
    from accp_adapters.evaluation.run_file import UnreadableRunFile, read_run

    try:
        header, answers = read_run(path)
    except UnreadableRunFile as error:
        raise InputRefused(error.reason, path=str(path), line=error.line) from error
    except ValueError as error:
        raise InputRefused(str(error), path=str(path)) from error
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from error
    if (kind := header.get("kind", "reading")) != "reading":
        raise typer.BadParameter(f"{path}: expected a run of `reading`, found one of {kind!r}")
    return answers


def _model(name: str, counter: TokenCounter, base_url: str | None) -> Model:
    from accp_adapters.evaluation import model_named

    try:
        return model_named(name, counter=counter, base_url=base_url)
    except ImportError as error:
        if error.name == "langchain":
            raise ExtraMissing(f"the model {name}", extra="langgraph") from error
        raise typer.BadParameter(str(error), param_hint="--model") from error


def _documents(files: list[Path] | None) -> list[Document]:
    from accp_adapters.evaluation import read_documents, shipped_documents

    found = list(read_documents(files) if files else shipped_documents())
    if not found:
        raise ValueError(f"expected JSON documents in {', '.join(map(str, files or ()))}, found none")
    return found


def _print(report: Report, prices: Prices | None, *, as_json: bool) -> None:
    from rich.console import Console

    from accp_adapters.cli.output.reading_tables import print_reading

    if as_json:
        write_text(json.dumps(report.to_json(), indent=1))
        return
    console = Console()
    print_reading(report, console if console.is_terminal else Console(width=120), prices)
