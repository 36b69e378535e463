"""The options of `accp serve`: what each belongs to, its section of the help, and the refusal of one out of place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeAlias

import typer
from typer.core import TyperCommand

__all__ = [
    "BELONGS_TO",
    "AgentId",
    "Ascii",
    "Compress",
    "DecimalOption",
    "Decimals",
    "Http",
    "KeepBytes",
    "KeepSeconds",
    "Log",
    "MakeToken",
    "Preset",
    "PresetOption",
    "RelayAddress",
    "Sequence",
    "SequenceOption",
    "ServeCommand",
    "Served",
    "Stdio",
    "Target",
    "Tcp",
    "check_options",
    "given_options",
]


class Served(Enum):
    """What is served; the value says it in a refusal."""

    HANDLER = "a TARGET that is a function, over ACCP"
    AGENT = "a TARGET with a card and a method handle, an agent of ACP"
    COMPRESSION = "--compress"


class Preset(StrEnum):
    """What becomes a preview."""

    LOSSLESS = "lossless"
    DEFAULT = "default"
    TIGHT = "tight"


class Sequence(StrEnum):
    """How peers number their frames."""

    RECOGNIZED = "recognized"
    RECEIVED = "received"
    SHARED = "shared"


class Decimals(StrEnum):
    """How decimals of more than six places are written."""

    EXACT = "exact"
    ROUND6 = "round6"


BELONGS_TO: Final[Mapping[str, Served | None]] = MappingProxyType(
    {
        "--http": None,
        "--token-env": None,
        "--allow-host": None,
        "--certificate": None,
        "--key": None,
        "--agent-id": Served.HANDLER,
        "--log": Served.HANDLER,
        "--sequence": Served.HANDLER,
        "--ascii": Served.HANDLER,
        "--decimal": Served.HANDLER,
        "--tcp": Served.AGENT,
        "--relay": Served.AGENT,
        "--make-token": Served.AGENT,
        "--stdio": Served.AGENT,
        "--compress": Served.COMPRESSION,
        "--policy": Served.COMPRESSION,
        "--tool": Served.COMPRESSION,
        "--keep-seconds": Served.COMPRESSION,
        "--keep-bytes": Served.COMPRESSION,
    }
)
"""Each option, and the one thing that it is an option of; None: of all of them."""

_ARGUMENTS: Final = "Arguments"
_SECTIONS: Final[Mapping[Served | None, str]] = MappingProxyType(
    {
        None: "Options",
        Served.HANDLER: "Options of a handler of ACCP",
        Served.AGENT: "Options of an agent of ACP",
        Served.COMPRESSION: "Options of the compression for gateways",
    }
)
"""The sections of the help, in their order."""

Target: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        help="Module and name, such as `agents.crm:answer`: of a function (ACCP), or of an object with a card and a"
        " method handle (ACP).",
    ),
]
Http: TypeAlias = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP and, but for --compress, WebSocket; port 0: any.")
]
AgentId: TypeAlias = Annotated[str, typer.Option(help="The agent that the handler is.")]
Log: TypeAlias = Annotated[
    str, typer.Option(help="Where sessions are kept: memory, sqlite:PATH, redis://HOST or nats://HOST.")
]
SequenceOption: TypeAlias = Annotated[
    Sequence,
    typer.Option(help="How peers count: received: each end for itself; shared: both ends; recognized: as they begin."),
]
Ascii: TypeAlias = Annotated[bool, typer.Option("--ascii", help="Write only characters of the draft's grammar.")]
DecimalOption: TypeAlias = Annotated[
    Decimals, typer.Option(help="Decimals of more than six places: exact: whole, in a form of ours; round6: rounded.")
]
Tcp: TypeAlias = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve TCP (E) there.")]
RelayAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="acp+wss://HOST", help="Serve the guest of each token in its room of this relay (C)."),
]
MakeToken: TypeAlias = Annotated[
    bool,
    typer.Option("--make-token", help="Make a token for this run, and print the links that hold it, for the guest."),
]
Stdio: TypeAlias = Annotated[
    bool, typer.Option("--stdio", help="Serve the process that started this one (B); no other option goes with it.")
]
Compress: TypeAlias = Annotated[
    bool, typer.Option("--compress", help="Serve POST /v1/compress, as LiteLLM's guardrail headroom calls it.")
]
PresetOption: TypeAlias = Annotated[
    Preset, typer.Option(help="lossless: nothing is hidden; default and tight: large results become previews.")
]
KeepSeconds: TypeAlias = Annotated[float, typer.Option(help="How long the text behind a preview is kept.")]
KeepBytes: TypeAlias = Annotated[int, typer.Option(help="Bytes of the texts that are kept for one token.")]


class ServeCommand(TyperCommand):
    """Shows its options in a section for each thing that can be served."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options into the help."""
        sections: dict[str, list[Any]] = {title: [] for title in (_ARGUMENTS, *_SECTIONS.values())}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                is_option = parameter.param_type_name == "option"
                sections[_SECTIONS[BELONGS_TO.get(parameter.opts[0])] if is_option else _ARGUMENTS].append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def given_options(context: Any) -> list[str]:
    """Return the names of the options that the command line gives, in the order of the command's parameters."""
    named = ((parameter.opts[0], context.get_parameter_source(parameter.name)) for parameter in context.command.params)
    return [name for name, source in named if name in BELONGS_TO and source is not None and source.name != "DEFAULT"]


def check_options(given: Iterable[str], served: Served) -> None:
    """Refuse an option that `served` does not have."""
    for name in given:
        owner = BELONGS_TO[name]
        if owner not in (None, served):
            raise typer.BadParameter(f"expected it with {owner.value}, found {served.value}", param_hint=name)
