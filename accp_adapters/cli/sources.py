"""The input and output of a command: a file or `-`, UTF-8, line ends unchanged; and the errors that end it."""

from __future__ import annotations

import logging
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import Final

import typer

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.markers import printable

__all__ = [
    "STDIN", "ExtraMissing", "InputRefused", "PrintableRecords", "line_and_column", "read_source",
    "refusal", "say", "write_line", "write_text",
]  # fmt: skip


# The errors that end a command: a refused input with its place (exit code 1), a missing extra (exit code 2).


class InputRefused(Exception):
    """An input is malformed; the text is one line such as "frames.txt:3:1: E1001: …" that an editor can jump to."""

    def __init__(
        self, reason: str, *, path: str, line: int = 0, column: int = 1, code: str = ErrorCode.PARSE_ERROR
    ) -> None:
        """Refuse an input.

        Args:
            reason: What was expected and found.
            path: The file, or another name for the input.
            line: From 1; 0: no place in it is wrong, such as where a query of it is.
            column: From 1.
            code: The error code of ACCP.
        """
        path = path.replace("\n", "\\n")
        super().__init__(f"{path}{f':{line}:{column}' if line else ''}: {code}: {reason}")


class ExtraMissing(Exception):
    """A command needs an optional extra that is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        """Name the `feature` and the `extra` of the package that it needs."""
        super().__init__(f"{feature} needs an extra: pip install 'accp-middleware[{extra}]'")


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return line and column, both from 1, of the character at `position` of `text`."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def refusal(error: DecodeError, *, path: str, line: int = 1) -> InputRefused:
    """Return the refusal of a text that the core did not accept.

    Args:
        error: The error of the core.
        path: The file that holds the text.
        line: The line in which the text begins.
    """
    first, column = line_and_column(error.text, error.position)
    reason = error.reason.removesuffix(f", at position {error.position}")
    return InputRefused(reason, path=path, line=line + first - 1, column=column, code=error.code)


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
        found = "UTF-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "LATIN1"
        reason = f"expected UTF-8: {error.reason}; convert it, such as by iconv -f {found} -t UTF-8"
        raise InputRefused(reason, path=path, line=line, column=column) from error


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
