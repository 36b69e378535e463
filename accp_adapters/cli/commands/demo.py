"""`accp demo`: one job over real files, done twice."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from accp_adapters.cli.errors import ExtraMissing

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["demo"]


def demo(
    *,
    folder: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="The folder whose files the agent works on.")
    ] = Path(),
    model: Annotated[
        str, typer.Option(help="A real model such as `openai:gpt-5`; none: a script that needs no key.")
    ] = "",
    output: Annotated[
        Optional[Path],  # noqa: UP045  typer reads the annotation
        typer.Option(file_okay=False, help="Where the two transcripts go; none: accp-demo among temporary files."),
    ] = None,
) -> None:
    """Let a LangGraph agent do one job over your files twice, without and with the middleware, and compare.

    The agent lists files, reads the git history, searches text, queries a database and reads a file. Shown
    for each model call: the tokens it was sent; in all: their cost with a prompt cache, what stayed readable,
    and whether the final answer is the same. Exit code 1 if it is not.

    The script is honest: what it calls next and what it answers follows from what the tools returned.

    Example: `accp demo --folder ~/src/project`

    Example: `accp demo --model anthropic:claude-sonnet-4-5`
    """
    try:
        from accp_adapters.cli.demo.comparison import show_demo
    except ImportError as error:
        raise ExtraMissing("the demonstration", extra="langgraph") from error
    same = show_demo(_model(model), folder.resolve(), output or _default(), scripted=not model)
    raise typer.Exit(0 if same else 1)


def _model(name: str) -> BaseChatModel:
    if not name:
        from accp_adapters.cli.demo.scripted_model import ScriptedModel

        return ScriptedModel()
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(name)
    except (ImportError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="--model") from error


def _default() -> Path:
    return Path(tempfile.gettempdir(), "accp-demo")
