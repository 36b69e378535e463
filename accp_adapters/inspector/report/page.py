"""The page of a replay: what the template shows, from the reports of one or more policies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accp_adapters.inspector.page.bars import SEGMENT_KINDS, make_bar, tokens_of
from accp_adapters.inspector.page.environment import render_page
from accp_adapters.inspector.report.runs import MAX_SHOWN_RUNS, contents_of_runs, dots_of, run_rows
from accp_adapters.inspector.report.summary import policy_row, tiles, verdict
from accp_adapters.inspector.report.texts import text_rows
from accp_adapters.replay.formats.findings import Finding
from accp_adapters.replay.prices import Prices
from accp_adapters.replay.report import Report
from accp_adapters.replay.strategies import StrategyName

__all__ = ["MAX_PAGE_BYTES", "html_report"]

MAX_PAGE_BYTES: Final = 6_000_000
"""Bytes of a page at most, whatever was replayed."""
_MAX_FINDINGS: Final = 20


def html_report(
    reports: Sequence[Report], *, prices: Prices | None = None, findings: Sequence[Finding] = (), made: str = ""
) -> str:
    """Return one self-contained page that needs no network and no script.

    Args:
        reports: One for each policy, of the same runs. The page is about the default policy if it is there, else about
            the first one.
        prices: Adds what the calls cost in money; None: nothing is added.
        findings: What was not understood.
        made: When and by what the page was made; empty: not said.
    """
    main = next((report for report in reports if report.strategy == StrategyName.DEFAULT), reports[0])
    row = policy_row(main, prices)
    rows = run_rows(main)
    return render_page(
        "report/report.html.jinja",
        script="report/report.js",
        styles=("report/report.css",),
        verdict=verdict(row),
        tiles=list(tiles(row)),
        policies=[policy_row(report, prices) for report in reports],
        main=row,
        kinds=SEGMENT_KINDS,
        contents=_contents(reports, main),
        kept_runs=len(main.runs),
        first_runs=min(len(main.runs), MAX_SHOWN_RUNS),
        rows=rows,
        dots=dots_of(rows),
        texts=text_rows(main.texts),
        findings=[str(finding)[:500] for finding in findings[:_MAX_FINDINGS]],
        more_findings=max(len(findings) - _MAX_FINDINGS, 0),
        made=made,
    )


def _contents(reports: Sequence[Report], main: Report) -> dict[str, Any]:
    """Return the bars of all kept runs by what they hold: as recorded, then under each policy."""
    sides = [("as recorded", *contents_of_runs(main.runs, 0))]
    sides += [(report.strategy, *contents_of_runs(report.runs, 1)) for report in reports]
    longest = max(tokens_of(contents) for _, contents, _ in sides)
    return {
        "names": [name for name, _, _ in sides],
        "bars": [(name, make_bar(contents, cached, longest)) for name, contents, cached in sides],
        "rows": [
            (label, [getattr(contents, kind) for _, contents, _ in sides]) for kind, label in SEGMENT_KINDS.items()
        ],
        "cached": [cached for _, _, cached in sides],
        "totals": [tokens_of(contents) for _, contents, _ in sides],
    }
