"""`accp eval`: whether a model that reads our forms still answers and acts as it would, on public benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.groups import HelpGroup
from accp_adapters.cli.price_options import read_budget
from accp_adapters.cli.sources import write_text

if TYPE_CHECKING:
    from accp_adapters.evaluation import Report
    from accp_adapters.replay.prices import Prices

__all__ = ["evaluation"]

evaluation = typer.Typer(
    cls=HelpGroup, help="Whether a model still answers as it would, on public benchmarks.", no_args_is_help=True
)


@evaluation.command()
def public(
    name: Annotated[Literal["toon", "tau2"], typer.Argument(help="The benchmark.")],
    *,
    model: Annotated[
        str, typer.Option(help="`provider:name` as LangChain's init_chat_model takes it, `mailbox:FOLDER` or `solver`.")
    ],
    source: Annotated[
        Path | None, typer.Option("--from", help="toon: a checkout, or a JSON file of questions of your own.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The address of an OpenAI-compatible server.")] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            help="toon: json, json-pretty, toon, view or readable; tau2: without, lossless, default, tight, "
            "context_editing, deepagents, headroom or limits such as 1000:700; repeatable, the first is the baseline."
        ),
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="tau2: retail, airline or telecom; repeatable; without one: all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Tasks, spread over all; without it: all.")] = None,
    run_file: Annotated[
        Path | None, typer.Option("--out", help="Keeps what came of each task; a run goes on where it stopped.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Tasks at once.")] = 1,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens after which no further task is begun.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Money after which no further task is begun.")] = None,
    price: Annotated[
        str, typer.Option(help="Of a million tokens: `3,15`, or input,read,write,output as `3,0.3,3.75,15`, or a file.")
    ] = "",
    margin: Annotated[float, typer.Option(min=0, help="Points of 100 that our arms may be below the baseline.")] = 3.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Let a model answer TOON's retrieval questions or do the tasks of tau2-bench, without us and with us.

    Documents, environments, tasks and checks are those of the benchmark. `solver` is no model: it knows the way and
    reads only its prompt. Exit status 1 where the lower end of the 95 % interval of the view, or of the default policy,
    is more than three points below the first arm. Nothing is sent but to the model that you name.

    Example: `accp eval public toon --from toon --model openai:gpt-5-mini --out toon.jsonl`

    Example: `accp eval public tau2 --domain retail --arm without --arm default --model mailbox:letters` writes each
    prompt to `letters/<key>.prompt.txt` and waits for `letters/<key>.answer.txt`
    """
    from rich.console import Console

    budget = read_budget(max_tokens, max_cost, price)
    options = {"model_name": model, "run_file": run_file, "concurrency": concurrency, "budget": budget}
    with _refusals(model, run_file), Console(stderr=True).status(f"asking {model} …"):
        if name == "toon":
            report = _toon(source, base_url, arm, limit, options)
        else:
            report = _tau2(domain, base_url, arm, limit, options)
    _print(report, budget.prices, as_json=as_json)
    if not report.arms:
        typer.echo("No task was run: --max-tokens or --max-cost was reached before the first.", err=True)
    if not report.arms or not report.is_within("view" if name == "toon" else "default", margin):
        raise typer.Exit(1)


def _toon(
    source: Path | None, base_url: str | None, forms: list[str] | None, limit: int | None, options: dict[str, Any]
) -> Report:
    from accp_adapters.evaluation import evaluate, model_named
    from accp_adapters.evaluation.reading import READING_FORMS
    from accp_adapters.evaluation.solvers import DocumentSolver
    from accp_adapters.evaluation.toon import HOW_TO_GET_TOON, read_benchmark
    from accp_adapters.tokens import o200k_base

    if source is None:
        raise typer.BadParameter(f"expected the checkout of the benchmark: {HOW_TO_GET_TOON}", param_hint="--from")
    counter, documents = o200k_base(), read_benchmark(source)
    chosen = forms or dict.fromkeys((*READING_FORMS, *documents[0].texts))
    name = options["model_name"]
    solver = DocumentSolver(documents, counter=counter)
    return evaluate(
        solver if name == "solver" else model_named(name, counter=counter, base_url=base_url),
        documents,
        counter=counter,
        forms=tuple(chosen),
        limit=limit,
        **options,
    )


def _tau2(
    domains: list[str] | None, base_url: str | None, arms: list[str] | None, limit: int | None, options: dict[str, Any]
) -> Report:
    from accp_adapters.evaluation.chat_models import agent_model
    from accp_adapters.evaluation.solvers import tau2_solver
    from accp_adapters.evaluation.tau2 import TAU2_DOMAINS, evaluate_tau2
    from accp_adapters.tokens import o200k_base

    player, name = tau2_solver, options["model_name"]
    if name != "solver":
        model = agent_model(name, counter=o200k_base(), base_url=base_url)
        player = lambda domain, task, side: model  # noqa: E731
    return evaluate_tau2(player, domains=domains or TAU2_DOMAINS, arms=arms, limit=limit, **options)


@contextmanager
def _refusals(model: str, run_file: Path | None) -> Iterator[None]:
    """Turn what a run cannot begin with into errors of the command."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("langchain", "langchain_core", "langgraph"):
            raise ExtraMissing(f"the model {model}", extra="langgraph") from error
        raise typer.BadParameter(str(error), param_hint="NAME" if error.name == "tau2" else "--model") from error
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    except OSError as error:
        raise InputRefused(str(error), path=str(error.filename or run_file or model)) from error


@evaluation.command()
def compare(
    before: Annotated[Path, typer.Argument(help="A run file.")],
    after: Annotated[Path, typer.Argument(help="Another one.")],
    *,
    arm: Annotated[str, typer.Option(help="The arm that is compared.")] = "default",
) -> None:
    """Compare two runs: what came of the tasks that both did, in one arm."""
    from accp_adapters.evaluation import Report

    lines = []
    for path in (before, after):
        answers = _read_run(path).values()
        if arm not in (known := dict.fromkeys(str(line.get("arm")) for line in answers)):
            expected = f"one of {', '.join(known)}, found {arm!r}" if known else "answers, found None"
            raise typer.BadParameter(f"{path}: expected {expected}", param_hint="--arm")
        lines += [{**line, "arm": f"{path.name}: {arm}"} for line in answers if line["arm"] == arm]
    _print(Report.of(lines), None, as_json=False)


def _read_run(path: Path) -> dict[str, dict[str, Any]]:
    """Return the answers of a run."""
    from accp_adapters.evaluation.run_file import UnreadableRunFile, read_run

    try:
        return read_run(path)[1]
    except UnreadableRunFile as error:
        raise InputRefused(error.reason, path=str(path), line=error.line) from error
    except ValueError as error:
        raise InputRefused(str(error), path=str(path)) from error
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from error


def _print(report: Report, prices: Prices | None, *, as_json: bool) -> None:
    from rich.console import Console

    from accp_adapters.cli.output.task_tables import print_tasks

    if as_json:
        write_text(json.dumps(report.to_json(), indent=1))
        return
    console = Console()
    print_tasks(report, console if console.is_terminal else Console(width=170), prices)
