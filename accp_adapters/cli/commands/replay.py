"""`accp replay`: recorded runs replayed with the middleware."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from accp_adapters.cli.sources import ExtraMissing, InputRefused, say, write_text
from accp_adapters.extras import needs

if TYPE_CHECKING:
    from accp_adapters.replay import Findings, Report, StrategyName

__all__ = ["EXAMPLE", "replay"]

EXAMPLE: Final = Path(__file__).parents[2] / "replay" / "recorded_run.json"
"""The run that comes with the package."""
_COST: Final = (
    "cost: what a provider with a prompt cache charges, in tokens at the list price; "
    "values: those of results that the model used later"
)
_MAX_TOOLS: Final = 12
_MAX_NAMED: Final = 20


def replay(
    files: Annotated[
        list[str] | None, typer.Argument(help="Recorded runs: files, folders or patterns; `-` is standard input.")
    ] = None,
    *,
    example: Annotated[bool, typer.Option("--example", help="Replay the run that comes with this package.")] = False,
    policy: Annotated[
        str, typer.Option(help="One or more of default, lossless and compact-json, with commas.")
    ] = "default",
    agent_names: Annotated[str, typer.Option(help="Names, with commas: messages of these names are an agent's.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Write one HTML page with the figures and each prompt, side by side."),
    ] = None,
) -> None:
    """Compare the tokens that recorded runs sent with those that they would have sent with the middleware.

    Runs are JSON or JSON lines of OpenAI, Anthropic, Bedrock, Gemini, LangChain, LangSmith, Langfuse, OpenTelemetry or
    Claude Code, or a SQLite file of LangGraph's checkpoints.

    The report ends with one sentence that says whether the middleware is worth it. The exit code is 1 where a part of
    the runs was not read, such as an image, or where they hold no result of a tool.

    Example: `accp replay --example`

    Example: `accp replay logs/ --policy default,lossless --html report.html`
    """
    from accp_adapters.replay import Findings

    names = [*(files or ()), *([str(EXAMPLE)] if example else ())]
    if not names:
        raise typer.BadParameter("expected a file with recorded runs, found none; try `accp replay --example`")
    if html:
        _check_target(html, names)
    findings = Findings()
    reports = _reports(names, _names(policy), _names(agent_names), findings, texts=html is not None)
    if not reports[0].total().runs:
        raise InputRefused(_no_run(findings), path=names[0])
    if html:
        _write_page(html, reports, findings)
    if as_json:
        write_text(json.dumps(_to_json(reports, findings), indent=1))
    else:
        _print(reports)
    for finding in findings.not_understood():
        say(f"not read, and not in the figures: {finding}")
    if left_out := ", ".join(map(str, findings.left_out()[:_MAX_NAMED])):
        say(f"left out on purpose: {left_out}")
    if findings.not_understood() or not reports[0].by_tool():
        raise typer.Exit(1)


def _reports(
    names: list[str], policies: list[str], agent_names: list[str], findings: Findings, *, texts: bool
) -> list[Report]:
    from accp_adapters.replay import Report, StrategyName, read_runs, replay_all
    from accp_adapters.replay.page import MAX_PAGE_RUNS

    strategies = [StrategyName.AS_RECORDED, *map(_strategy, policies)]
    reports = [Report(keep_runs=MAX_PAGE_RUNS if texts else None) for _ in policies]
    with _refusals():
        runs = read_runs(*names, agent_names=agent_names, findings=findings)
        for before, *others in replay_all(runs, strategies, texts=texts):
            for report, after in zip(reports, others, strict=True):
                report.add(before, after)
    return reports


def _strategy(name: str) -> StrategyName:
    from accp_adapters.replay import StrategyName

    known = [each.value for each in StrategyName if each is not StrategyName.AS_RECORDED]
    if name not in known:
        raise typer.BadParameter(f"expected one of {', '.join(known)}, found {name!r}", param_hint="--policy")
    return StrategyName(name)


@contextmanager
def _refusals() -> Iterator[None]:
    from accp_adapters.replay import UnreadableRun

    try:
        yield
    except UnreadableRun as error:
        raise InputRefused(error.reason, path=error.path, line=error.line, column=error.column) from error
    except ImportError as error:
        raise ExtraMissing("a database of checkpoints", extra="langgraph") from error
    except OSError as error:
        raise typer.BadParameter(f"{error.filename or '-'}: {error.strerror or error}") from error


def _names(given: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def _no_run(findings: Findings) -> str:
    from accp_adapters.replay.formats.run_files import FORMATS

    found = ", ".join(map(str, [*findings.not_understood(), *findings.left_out()][:_MAX_NAMED])) or "none"
    known = ", ".join(each.title for each in FORMATS)
    way = 'write others as OpenAI chat, {"messages": […]} on each line, or look at one result with accp view'
    return f"expected a run with a model call, found {found}; the formats are {known}; {way}"


def _to_json(reports: list[Report], findings: Findings) -> dict[str, Any]:
    def rows(found: list[Any]) -> list[dict[str, object]]:
        return [{"what": f"{f.noun} {f.detail}", "count": f.count, "path": f.path, "line": f.line} for f in found]

    return {
        "policies": [report.to_json() for report in reports],
        "not_understood": rows(findings.not_understood()),
        "left_out": rows(findings.left_out()),
    }


def _print(reports: list[Report]) -> None:
    with needs("cli"):
        from accp_adapters.cli.tables import percent, plain_table, wide_console

    console = wide_console()
    total = reports[0].total()
    rows = [("as recorded", f"{total.before.prompt:,}", "", f"{total.before.cost:,.0f}", "", "", "", "")]
    for report in reports:
        for row in (*(report.by_source() if len(report.by_source()) > 1 else ()), report.total(report.strategy)):
            before, after = row.before, row.after
            tokens = (f"{after.prompt:,}", percent(after.prompt, before.prompt))
            cost = (f"{after.cost:,.0f}", percent(after.cost, before.cost))
            values = (percent(after.visible, after.needed), percent(after.reachable, after.needed))
            rows.append((Path(row.name).name, *tokens, *cost, *values, f"{row.costlier_runs:,} of {row.runs:,}"))
    columns = ("policy", "prompt tokens", "%", "cost", "%", "values visible %", "or one query away %", "costlier runs")
    console.print(plain_table("prompts of all model calls", columns, rows, caption=_COST))
    tools = [
        (row.name, f"{row.messages:,}", f"{row.unchanged:,}", f"{row.recorded_in_prompts:,}",
         f"{row.sent_in_prompts:,}", percent(row.sent_in_prompts, row.recorded_in_prompts))
        for row in reports[0].by_tool()[:_MAX_TOOLS]
    ]  # fmt: skip
    headings = ("result of", "messages", "sent as recorded", "tokens in prompts", "with us", "%")
    console.print(plain_table(f"tool results with the policy {reports[0].strategy!r}", headings, tools))
    for report in reports:
        console.print(f"{report.kept()}{report.verdict()}", soft_wrap=True)


def _check_target(path: Path, inputs: list[str]) -> None:
    if path.exists() and any(os.path.exists(name) and path.samefile(name) for name in inputs):
        reason = f"expected another file than the recorded runs, found {str(path)!r}"
        raise typer.BadParameter(reason, param_hint="--html")


def _write_page(path: Path, reports: list[Report], findings: Findings) -> None:
    from accp_adapters.replay.page import html_report

    made = f"Made on {date.today().isoformat()} with accp-middleware {metadata.version('accp-middleware')}"
    try:
        path.write_text(html_report(reports, findings=findings.not_understood(), made=made), encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}", param_hint="--html") from error
    say(f"Report: {path.resolve()}")
