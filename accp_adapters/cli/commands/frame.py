"""`accp frame`: ACCP frames parsed, formatted and checked, one a line (draft-benzing-accp-00, section 3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from accp_adapters.cli.debug import observe
from accp_adapters.cli.errors import InputRefused, refusal
from accp_adapters.cli.groups import HelpGroup
from accp_adapters.cli.sources import STDIN, read_source, say, write_text

if TYPE_CHECKING:
    from accp_core.accp import Frame

__all__ = ["frame"]

frame = typer.Typer(
    cls=HelpGroup,
    help="Parse, format and check ACCP frames, one a line (draft-benzing-accp-00, section 3).",
    no_args_is_help=True,
)

File = Annotated[str, typer.Argument(help="A file with a frame on each line; `-` is standard input.")]
Strict = Annotated[bool, typer.Option("--strict", help="Accept the draft's grammar only, without the known errata.")]


@frame.command()
def parse(file: File = STDIN, *, strict: Strict = False) -> None:
    """Print each frame as one line of JSON; a reference is `{"$ref": "warm.x"}`.

    Example: `echo '@planner>req:schedule{pri:high}[mid:49679033e07c,seq:3]' | accp frame parse`
    """
    from accp_adapters.cli.frames import frame_to_json
    from accp_core.strict_json import compact_json

    for line, text in _lines(file):
        write_text(compact_json(frame_to_json(_parse(text, file, line, strict=strict))))


@frame.command("format")
def format_frame(
    file: Annotated[
        str, typer.Argument(help="Frames, or the JSON that `parse` prints, one a line; `-` is standard input.")
    ] = STDIN,
    *,
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Write only characters of the draft's grammar.")] = False,
) -> None:
    """Print each frame in its canonical spelling: equal frames have the same bytes.

    Example: `accp frame parse frames.txt | jq -c '.params.pri = "low"' | accp frame format`
    """
    for line, text in _lines(file):
        write_text(_serialize(_read(text, file, line), file, line, ascii_only=ascii_only))


@frame.command()
def check(file: File = STDIN, *, strict: Strict = False) -> None:
    """Report the errors and warnings of each frame; exit code 1 if a frame is refused.

    Warnings: a form that only the errata of the draft allow, a spelling that is not canonical, characters that are not
    in the draft's grammar, an envelope without `mid` or `seq`, a `mid` that is not 12 hex digits, unknown fields.

    Example: `accp frame check frames.txt && echo fine`
    """
    from accp_adapters.cli.frames import warnings

    refused = 0
    for line, text in _lines(file):
        try:
            parsed = _parse(text, file, line, strict=strict)
        except InputRefused as error:
            refused += 1
            say(str(error))
            continue
        for column, warning in warnings(text, parsed):
            say(f"{file}:{line}:{column}: warning: {warning}")
    raise typer.Exit(1 if refused else 0)


def _lines(path: str) -> Iterator[tuple[int, str]]:
    # At line feeds only: a frame may hold the other characters at which str.splitlines splits.
    lines = read_source(path).split("\n")
    yield from ((number, line) for number, line in enumerate(lines, 1) if line)


def _parse(text: str, path: str, line: int, *, strict: bool) -> Frame:
    from accp_core.accp import parse_frame
    from accp_core.accp.debug import Direction
    from accp_core.errors import DecodeError

    try:
        parsed = parse_frame(text, strict=strict)
    except DecodeError as error:
        observe(Direction.RECEIVED, f"{path}:{line}", text, None, error)
        raise refusal(error, path=path, line=line) from error
    observe(Direction.RECEIVED, f"{path}:{line}", text, parsed)
    return parsed


def _serialize(written: Frame, path: str, line: int, *, ascii_only: bool) -> str:
    from accp_core.accp import serialize_frame
    from accp_core.accp.debug import Direction
    from accp_core.errors import EncodeError

    try:
        text = serialize_frame(written, ascii_only=ascii_only)
    except EncodeError as error:
        raise InputRefused(error.reason, path=path, line=line, code=error.code) from error
    observe(Direction.SENT, f"{path}:{line}", text, written)
    return text


def _read(text: str, path: str, line: int) -> Frame:
    """Return the frame in one line of the input of `format`: a frame, or its JSON."""
    from accp_adapters.cli.frames import frame_from_json

    if not text.startswith("{"):
        return _parse(text, path, line, strict=False)
    try:
        return frame_from_json(json.loads(text))
    except json.JSONDecodeError as error:
        raise InputRefused(error.msg, path=path, line=line, column=error.colno) from error
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputRefused(f"expected the JSON of a frame: {error}", path=path, line=line) from error
