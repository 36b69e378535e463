"""Input and output of a Unix tool: a file or `-`, bytes as they are, UTF-8 or a refusal that says where."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from accp_adapters.cli.errors import InputRefused, line_and_column

__all__ = ["STDIN", "read_source", "write_text"]

STDIN = "-"


def read_source(path: str) -> str:
    """Return the text of the file at `path`, of standard input for `-`; line ends stay as they are.

    Raises:
        InputRefused: the text is no UTF-8.
        typer.BadParameter: the file cannot be read.
    """
    try:
        read = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from error
    try:
        return read.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = read[: error.start].decode("utf-8")
        line, column = line_and_column(before, len(before))
        raise InputRefused(f"no UTF-8: {error.reason}", path=path, line=line, column=column) from error


def write_text(text: str) -> None:
    """Write `text` and a line end to standard output, as UTF-8 whatever the locale."""
    sys.stdout.buffer.write(f"{text}\n".encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()
