"""`python -m integrations.agent_tasks.compare`: two runs, task by task, in one arm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from accp_adapters.evaluation.run_file import read_run
from integrations.agent_tasks.report import TaskReport
from integrations.agent_tasks.run import RUN_KIND
from integrations.agent_tasks.tables import print_tasks

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(help="A run file.")],
    after: Annotated[Path, typer.Argument(help="Another one.")],
    *,
    arm: Annotated[str, typer.Option(help="The arm that is compared.")] = "default",
) -> None:
    """Compare two runs: what came of the tasks that both did, in one arm."""
    lines = [{**line, "arm": f"{path.name}: {arm}"} for path in (before, after) for line in _lines(path, arm)]
    console = Console()
    print_tasks(TaskReport.of(lines), console if console.is_terminal else Console(width=150))


def _lines(path: Path, arm: str) -> list[dict[str, Any]]:
    try:
        header, lines = read_run(path)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from error
    if header.get("kind") != RUN_KIND:
        raise typer.BadParameter(
            f"{path}: expected a run of agent tasks, found one of {header.get('kind', 'reading')!r}"
        )
    found = [line for line in lines.values() if line["arm"] == arm]
    if not found:
        arms = ", ".join(dict.fromkeys(line["arm"] for line in lines.values()))
        raise typer.BadParameter(f"{path}: expected one of {arms or 'no arms'}, found {arm!r}", param_hint="--arm")
    return found


if __name__ == "__main__":
    app()
