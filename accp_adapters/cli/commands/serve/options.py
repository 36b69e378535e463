"""The options of `accp serve`: what each belongs to, its section of the help, and the refusal of one out of place."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import typer
from typer.core import TyperCommand

__all__ = ["ServeCommand", "Served", "check_options", "given_options", "option_of"]


class Served(Enum):
    """What is served; the value says it in a refusal."""

    HANDLER = "a TARGET that is a function, over ACCP"
    AGENT = "a TARGET with a card and a method handle, an agent of ACP"


_SECTIONS: Final[Mapping[Served, str]] = {
    Served.HANDLER: "Options of a handler of ACCP",
    Served.AGENT: "Options of an agent of ACP",
}
"""The sections of the help below those of the arguments and of the options of all, in their order."""


def option_of(owner: Served, text: str, *names: str, **more: Any) -> Any:
    """Return an option of the one thing that is served; `text` is its help."""
    return typer.Option(*names, help=text, rich_help_panel=_SECTIONS[owner], **more)


class ServeCommand(TyperCommand):
    """Shows its options in a section for each thing that can be served."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options into the help."""
        sections: dict[str, list[Any]] = {title: [] for title in ("Arguments", "Options", *_SECTIONS.values())}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                is_option = parameter.param_type_name == "option"
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                sections[panel if is_option else "Arguments"].append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def given_options(context: Any) -> dict[str, Served | None]:
    """Return the options that the command line gives, and what each belongs to; None: to all that is served."""
    owners = {section: owner for owner, section in _SECTIONS.items()}
    return {
        parameter.opts[0]: owners.get(parameter.rich_help_panel)
        for parameter in context.command.params
        if parameter.param_type_name == "option"
        and (source := context.get_parameter_source(parameter.name)) is not None
        and source.name != "DEFAULT"
    }


def check_options(given: Mapping[str, Served | None], served: Served) -> None:
    """Refuse an option that `served` does not have."""
    for name, owner in given.items():
        if owner not in (None, served):
            raise typer.BadParameter(f"expected it with {owner.value}, found {served.value}", param_hint=name)
