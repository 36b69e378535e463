"""The header fields that `accp mcp` sends a server: in the command line, in the environment or in a file.

A list of processes shows everybody the command line; a secret stands in the environment or in a file. No message
repeats a value.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from accp_adapters.serving.hosts import Headers

__all__ = ["header_fields"]


def header_fields(lines: Sequence[str], variables: Sequence[str], file: Path | None) -> Headers:
    """Return the fields of `--header`, `--header-env` and `--header-file`, names in lower case.

    Args:
        lines: Each is "NAME: VALUE".
        variables: Each is "NAME=VARIABLE", an environment variable that holds the value.
        file: A file with a "NAME: VALUE" in each line.

    Raises:
        typer.BadParameter: A field is malformed, a variable is not set or the file cannot be read.
    """
    return [
        *(_field(line, "--header") for line in lines),
        *(_field_of_variable(each) for each in variables),
        *(_field(line, "--header-file") for line in _lines(file) if line.strip()),
    ]


def _field(line: str, option: str) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(":")
    is_name = name.strip().isascii() and name.strip().isprintable()
    if not colon or not is_name or not value.strip().isprintable():
        # A line without a name may be nothing but a token.
        found = repr(name.strip()) if colon and is_name else "a line without a name"
        raise typer.BadParameter(f"expected NAME: VALUE, found {found}", param_hint=option)
    return name.strip().lower().encode(), value.strip().encode()


def _field_of_variable(text: str) -> tuple[bytes, bytes]:
    name, equals, variable = text.partition("=")
    if not equals or variable not in os.environ:
        reason = f"expected NAME=VARIABLE with a variable that is set, found {text!r}"
        raise typer.BadParameter(reason, param_hint="--header-env")
    return _field(f"{name}: {os.environ[variable]}", "--header-env")


def _lines(file: Path | None) -> list[str]:
    try:
        return [] if file is None else file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"cannot read {str(file)!r}: {error}", param_hint="--header-file") from error
