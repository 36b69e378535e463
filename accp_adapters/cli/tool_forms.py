"""The options of `accp mcp` and `accp mcp install` that say how results are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

if TYPE_CHECKING:
    from accp_core.projection import ToolForm

__all__ = ["TOOL_HELP", "ChangesOption", "FetchOption", "ToolOption", "tool_forms"]

TOOL_HELP: Final = (
    "How the results of a tool, or of those whose name matches, are shown: as_is, verbatim, lossless, or the tokens of "
    "a result and of its preview, as 2500:1000; repeatable. Known tools that read files are verbatim. With accp "
    "mcp --fetch also write_file=resolve:content: the server gets the text of a reference in that argument."
)
ToolOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="NAME=FORM", help=TOOL_HELP),
]

FetchOption = Annotated[
    bool, typer.Option("--fetch", help="Show large results as previews, and offer accp_fetch, which opens them.")
]
ChangesOption = Annotated[
    bool,
    typer.Option("--changes", help="With --fetch: show what is nearly the same as an earlier result as what changed."),
]


def tool_forms(words: list[str] | None) -> Mapping[str, ToolForm]:
    """Return what the option says.

    Raises:
        typer.BadParameter: It does not say it in such words.
    """
    if not words:
        return {}
    from accp_adapters.policy import read_tool_words

    try:
        return read_tool_words(words)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--tool") from error
