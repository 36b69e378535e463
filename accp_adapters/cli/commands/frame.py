"""`accp frame`: ACCP frames read, written and checked."""

from __future__ import annotations

import typer

__all__ = ["frame"]

frame = typer.Typer(
    help="Read, write and check ACCP frames (draft-benzing-accp-00, section 3).", no_args_is_help=True
)
