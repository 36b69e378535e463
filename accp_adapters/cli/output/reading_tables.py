"""The tables of a reading test for a terminal."""

from __future__ import annotations

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.evaluation import Report
from accp_adapters.evaluation.reading.report import FormFigures
from accp_adapters.replay.prices import Prices

__all__ = ["print_reading"]


def print_reading(report: Report, console: Console, prices: Prices | None = None) -> None:
    """Print what came out in each form, by kind of question, and the errors.

    Args:
        report: The figures.
        console: Where to print.
        prices: Prices of a million tokens; None: no column of money.
    """
    columns = ["form", "document tokens", "right", "%", "points", "95 % from", "to", "chance", "prompt tokens"]
    rows = [_form_row(form) for form in report.forms]
    if prices:
        columns.append("$")
        rows = [
            [*row, f"{prices.cost(prompt=form.tokens_in, output=form.tokens_out):.2f}"]
            for row, form in zip(rows, report.forms, strict=True)
        ]
    missing = f"; {report.missing} were not sent, because the limit of tokens was reached" if report.missing else ""
    caption = f"{report.prompts} prompts were answered{missing}. Points: right of 100, against the first form."
    console.print(plain_table("answers", columns, rows, caption=caption))
    names = [form.form for form in report.forms]
    kinds = list(dict.fromkeys(kind for form in report.forms for kind in form.by_kind))
    console.print(
        plain_table("right by kind of question", ["kind", *names], [_kind_row(report, kind) for kind in kinds])
    )
    errors = list(dict.fromkeys(error for form in report.forms for error in form.errors))
    wrong = [[error, *(str(form.errors.get(error, 0)) for form in report.forms)] for error in errors]
    console.print(plain_table("wrong answers", ["class", *names], wrong))


def _form_row(form: FormFigures) -> list[str]:
    row = [form.form, f"{form.document_tokens:,}", f"{form.right}/{form.asked}", percent(form.right, form.asked)]
    gap = form.difference
    row += [f"{gap.points:+.1f}", f"{gap.low:+.1f}", f"{gap.high:+.1f}"] if gap else ["-"] * 3
    return [*row, "-" if form.chance is None else f"{form.chance:.2f}", f"{form.tokens_in:,}"]


def _kind_row(report: Report, kind: str) -> list[str]:
    cells = (form.by_kind.get(kind, (0, 0)) for form in report.forms)
    return [kind, *(f"{right}/{asked}" for right, asked in cells)]
