"""`accp demo`: one job over real files, done twice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
        str, typer.Option(help="A chat model such as `openai:gpt-5`; without it, a script that needs no key.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            file_okay=False, help="The folder for two transcripts and a report; without it, a new private one."
        ),
    ] = None,
) -> None:
    """Let a LangGraph agent do one job over your files twice, without and with the middleware, and compare.

    The agent lists files, reads the git history, searches text, queries a database and reads a file. The table shows
    the tokens of each prompt, their cost with a prompt cache, how many needed values stay readable, and whether the
    final answers are equal. Exit code 1 if they are not.

    What the script calls and answers follows from the texts of the tool results only, as with a real model.

    Example: `accp demo --folder ~/src/project`

    Example: `accp demo --model anthropic:claude-sonnet-4-5`
    """
    try:
        from accp_adapters.cli.demo.comparison import show_demo
    except ImportError as error:
        raise ExtraMissing("the demonstration", extra="langgraph") from error
    raise typer.Exit(0 if show_demo(_model(model), folder.resolve(), output, scripted=not model) else 1)


def _model(name: str) -> BaseChatModel:
    if not name:
        from accp_adapters.cli.demo.scripted_model import ScriptedModel

        return ScriptedModel()
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(name)
    except (ImportError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="--model") from error
