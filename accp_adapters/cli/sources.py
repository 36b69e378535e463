"""The input and output of a command: a file or `-`, UTF-8, line ends unchanged."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Final

import typer

from accp_adapters.cli.errors import InputRefused, line_and_column

__all__ = ["STDIN", "PrintableRecords", "printable", "read_source", "say", "write_line", "write_text"]

STDIN: Final = "-"
"""The path that stands for standard input."""


class PrintableRecords(logging.Formatter):
    """Formats log records without control characters, since they quote what others sent to a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of one record and of its exception."""
        return printable(super().format(record))


def read_source(path: str, *, exactly: bool = False) -> str:
    """Return the text of the file at `path`, or of standard input for `-`.

    Args:
        path: The file.
        exactly: Whether a byte order mark at the beginning is a part of the text.

    Raises:
        InputRefused: the text is not UTF-8; with line and column.
        typer.BadParameter: the file cannot be read.
    """
    try:
        content = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from error
    try:
        return content.decode("utf-8" if exactly else "utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        line, column = line_and_column(before, len(before))
        raise InputRefused(f"expected UTF-8: {error.reason}", path=path, line=line, column=column) from error


def write_text(text: str, *, exactly: bool = False) -> None:
    """Write `text`, and a line feed unless it is written `exactly`, to standard output, in UTF-8 in every locale.

    On a terminal, what it might obey is written as an escape.
    """
    text = text if exactly else f"{text}\n"
    shown = printable(text) if sys.stdout.isatty() else text
    sys.stdout.buffer.write(shown.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()


def write_line(text: str) -> None:
    """Write a line for people to standard output: what is in it makes no other line, and obeys nothing."""
    write_text(printable(text).replace("\n", "\\n"))


def say(text: str) -> None:
    """Write `text` and a line feed to standard error, for people."""
    typer.echo(printable(text), err=True)


def printable(text: str) -> str:
    """Return `text` as a terminal may be given it: each other character than a line feed or tab that cannot be seen,
    such as one that moves the cursor or turns the direction of writing, becomes an escape of Python.
    """
    return "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in text)
