"""The HTML page of a replay, written to a file."""

from __future__ import annotations

import os
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from accp_adapters.cli.errors import ExtraMissing
from accp_adapters.cli.sources import STDIN, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from accp_adapters.replay import Findings, Report
    from accp_adapters.replay.prices import Prices

__all__ = ["check_target", "write_html"]


def check_target(path: Path, inputs: Iterable[str]) -> None:
    """Refuse a target that is an input, or standard output.

    Raises:
        typer.BadParameter: the page cannot be written there.
    """
    if str(path) == STDIN:
        raise typer.BadParameter("expected a file, found '-': standard output has the figures", param_hint="--html")
    if path.exists() and any(os.path.exists(name) and path.samefile(name) for name in inputs):
        raise typer.BadParameter(
            f"expected another file than the recorded runs, found {str(path)!r}", param_hint="--html"
        )


def write_html(path: Path, reports: Sequence[Report], findings: Findings, prices: Prices | None) -> None:
    """Write the page to `path` and say so on standard error.

    Raises:
        ExtraMissing: Jinja is not installed.
        typer.BadParameter: the file cannot be written.
    """
    try:
        from accp_adapters.inspector.report import html_report
    except ImportError as error:
        raise ExtraMissing("the HTML report", extra="cli") from error
    made = f"Made on {date.today().isoformat()} with accp-middleware {metadata.version('accp-middleware')}"
    page = html_report(reports, prices=prices, findings=findings.not_understood(), made=made)
    try:
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}", param_hint="--html") from error
    say(f"Report: {path.resolve()}")
