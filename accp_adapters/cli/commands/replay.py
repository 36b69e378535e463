"""`accp replay`: recorded runs replayed with the middleware."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from accp_adapters.cli.errors import InputRefused
from accp_adapters.cli.price_options import read_price_option
from accp_adapters.cli.sources import say, write_text

if TYPE_CHECKING:
    from accp_adapters.cli.output.run_rows import RunRows
    from accp_adapters.replay import Finding, Findings, Report
    from accp_adapters.replay.prices import Prices

__all__ = ["replay"]

_NOT_UNDERSTOOD: Final = 3
"""The exit code of figures that leave something out."""
_INTERRUPTED: Final = 130
"""The exit code of a program that an interrupt ended."""
_THREE: Final = "default,lossless,tight"


def replay(
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Recorded runs: files, folders, patterns, a `postgresql://` URL; `-` is standard input."),
    ] = None,
    *,
    example: Annotated[bool, typer.Option("--example", help="Replay the run that comes with this package.")] = False,
    run_format: Annotated[
        str | None,
        typer.Option("--format", help="How the runs are written, see docs/replay.md; without it, found by content."),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="One or more of lossless, default, tight and compact-json, with commas.  [default: default]",
        ),
    ] = None,
    agent_names: Annotated[
        str, typer.Option("--agent-names", help="Names, with commas: messages of these names are an agent's.")
    ] = "",
    price: Annotated[
        str | None,
        typer.Option("--price", metavar="IN,READ,WRITE,OUT", help="Prices of a million tokens, or a JSON file."),
    ] = None,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="End with 0 though something was not understood.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a line for each run and policy.")] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", dir_okay=False, help="Write one HTML page for people; without --policy of all three."),
    ] = None,
    texts: Annotated[
        bool, typer.Option("--texts/--no-texts", help="Whether that page shows the ten largest messages.")
    ] = True,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0: as many as are useful.")] = 0,
) -> None:
    """Compare the tokens that recorded runs sent with those that they would have sent with the middleware.

    For each model call the report has the tokens of its prompt, their cost with a provider's prompt cache (a cached
    token costs 0.1, any other 1.25), and how many of the values that the model went on to use are visible in the
    prompt or one fetch away. The definition of the fetch tool counts in every prompt that shows a reference. A text
    that was sent never changes in a later prompt.

    The exit code is 3 where the runs hold anything that is not understood, such as an image: the figures leave it out.
    An interrupt (Ctrl-C) ends with 130 and the figures of the runs until then.

    Example: `accp replay --example`

    Example: `accp replay logs/ --policy lossless,default,tight --price 3,0.3,3.75,15`

    Example: `accp replay logs/ --html report.html`

    Example: `accp replay runs/*.jsonl --json | jq .policies[0].total`
    """
    from accp_adapters.cli.replaying import EXAMPLE, INTERRUPTED, MAX_RUNS, Replaying
    from accp_adapters.replay import Findings

    findings = Findings()
    prices = read_price_option(price)
    job = Replaying(
        files=[*(files or ()), *([str(EXAMPLE)] if example else ())],
        run_format=run_format,
        policies=_names(policies if policies is not None else _THREE if html else "default"),
        agent_names=_names(agent_names),
        jobs=jobs,
        keep_runs=MAX_RUNS if html else 1,
        texts=texts and html is not None,
    )
    if html:
        from accp_adapters.cli.html_file import check_target

        check_target(html, job.inputs())
    with _rows(prices, as_json=as_json, as_csv=as_csv) or nullcontext() as rows:
        reports = job.reports(findings, rows)
        interrupted = any(finding.noun == INTERRUPTED for finding in findings)
        if not reports[0].total().runs and not interrupted:
            raise InputRefused(_no_run(findings), path=job.files[0])
        if html:
            from accp_adapters.cli.html_file import write_html

            write_html(html, reports, findings, prices)
        _print(reports, findings, prices, rows, as_json=as_json)
    _tell(findings)
    if interrupted:
        raise typer.Exit(_INTERRUPTED)
    if findings.not_understood() and not ignore_unknown:
        raise typer.Exit(_NOT_UNDERSTOOD)


def _no_run(findings: Findings) -> str:
    from accp_adapters.replay.formats.table import FORMATS

    found = ", ".join(map(str, [*findings.not_understood(), *findings.left_out()][:3])) or "none"
    known = ", ".join(each.title for each in FORMATS)
    return f"expected a run with a model call, found {found}; the formats are {known}"


def _names(given: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def _rows(prices: Prices | None, *, as_json: bool, as_csv: bool) -> RunRows | None:
    from accp_adapters.cli.output.csv_rows import csv_rows
    from accp_adapters.cli.output.json_rows import json_rows

    return json_rows() if as_json else csv_rows(prices) if as_csv else None


def _print(
    reports: list[Report], findings: Findings, prices: Prices | None, rows: RunRows | None, *, as_json: bool
) -> None:
    from accp_adapters.cli.output.csv_rows import csv_pieces
    from accp_adapters.cli.output.json_rows import json_pieces

    if rows is None:
        _print_tables(reports, prices)
        return
    pieces = json_pieces(_to_json(reports, findings, prices), rows) if as_json else csv_pieces(reports, rows, prices)
    for piece in pieces:
        write_text(piece, exactly=True)
    write_text("\n" if as_json else "", exactly=True)


def _print_tables(reports: list[Report], prices: Prices | None) -> None:
    from rich.console import Console

    from accp_adapters.cli.output.terminal_tables import print_policies, print_report

    console = Console()
    # A file or a pipe has no width; in the default of 80 columns names would be cut.
    console = console if console.is_terminal else Console(width=110)
    if len(reports) > 1 or prices:
        print_policies(reports, prices, console)
    if len(reports) == 1:
        print_report(reports[0], console)


def _to_json(reports: list[Report], findings: Findings, prices: Prices | None) -> dict[str, object]:
    def rows(found: list[Finding]) -> list[dict[str, object]]:
        return [{"what": f"{f.noun} {f.detail}", "count": f.count, "path": f.path, "line": f.line} for f in found]

    policies = [report.to_json() | ({"money": _money(report, prices)} if prices else {}) for report in reports]
    return {
        "policies": policies,
        "not_understood": rows(findings.not_understood()),
        "left_out": rows(findings.left_out()),
    }


def _money(report: Report, prices: Prices) -> dict[str, float]:
    total = report.total()
    return {"before": prices.of(total.before), "after": prices.of(total.after)}


def _tell(findings: Findings) -> None:
    for finding in findings.not_understood():
        say(f"not understood: {finding}")
    if findings.not_understood():
        say("The figures leave this out; --ignore-unknown ends with 0 all the same.")
