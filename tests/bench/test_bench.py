import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from accp_adapters.replay import read_runs
from tests.adapters.langgraph.test_summarization import needs_summarizer
from tests.adapters.replay.runs import trajectory
from tests.bench import (
    constructs,
    data,
    fixed_tokens,
    limits,
    mcp_results,
    mcp_tools,
    payloads,
    summaries,
    tool_results,
    trajectories,
)
from tests.bench.__main__ import main

Section = Callable[[Path | None, Console], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = [{"id": f"ord_{n}", "total": n * 1.5, "status": "open"} for n in range(5)]
    tools = [{"name": f"find_{n}", "description": "Finds.\n" + "At length. " * 60} for n in range(5)]
    capture = {
        "legacy": {
            "tools/call": [{"response": {"result": {"content": records}}}, {"response": {}}],
            "tools/list": {"result": {"tools": tools}},
        }
    }
    for name, text in {
        "payloads/flights.json": json.dumps(records),
        "trajectories/runs.jsonl": json.dumps(trajectory()),
        "mcp/server.json": json.dumps(capture),
        "json_documents/mcp_tool_definitions/__toolsnaps__/now.snap": json.dumps({"name": "now"}),
        "json_documents/mcp_tool_definitions/livemcptool_tools.json": json.dumps(
            [{"tools": {f"server {n}": {"tools": tools[:n]} for n in range(12)}}]
        ),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "section",
    [
        *(payloads.main, tool_results.main, constructs.main, trajectories.main, limits.main, fixed_tokens.main),
        *(mcp_results.main, mcp_tools.main),
    ],
)
def test_every_section_prints_a_table_or_says_what_it_skips(section: Section, folder: Path) -> None:
    console = Console(width=120)
    with console.capture() as table:
        section(folder, console)
    with console.capture() as skipped:
        section(None, console)
    assert "%" in table.get()
    assert "skipped, no data folder" in skipped.get()


def test_sessions_of_coding_agents_are_measured_without_other_data() -> None:
    console = Console(width=160)
    with console.capture() as capture:
        trajectories.main(None, console)
    [line] = [line.split() for line in capture.get().splitlines() if "3c." in line]
    assert int(line[1]) == len(data.committed_runs("swe_agent")) >= 6
    assert [row for row in capture.get().splitlines() if row.split()[:1] == ["swe_agent.jsonl"]]


@pytest.mark.parametrize("path", sorted(data.CORPORA.glob("*.jsonl.gz")), ids=lambda path: path.name)
def test_a_corpus_is_small_has_its_licence_and_is_read_like_a_log(path: Path) -> None:
    assert path.stat().st_size < 1_000_000
    name = path.name.removesuffix(".jsonl.gz")
    lines = (data.CORPORA / "README.md").read_text(encoding="utf-8").splitlines()
    [row] = [line.split(" | ") for line in lines if f"`{name}`" in line and line.startswith("|")]
    assert int(row[1]) == len(list(read_runs(path)))
    repository = re.match(r"[\w.-]+/([\w.-]+)", row[2])
    assert repository and (data.CORPORA / "LICENSES" / f"{repository[1]}.txt").is_file()


def test_sections_are_run_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DATA", str(folder))
    console = Console(width=120)
    with console.capture() as capture:
        assert main(["payloads"], console) == 0
        assert main(["nonsense"], console) == 2
    assert "1. payloads" in capture.get()


@pytest.mark.slow
@needs_summarizer
def test_the_call_that_summarizes_reads_the_cache_only_where_its_request_ends_the_last_prompt() -> None:
    console = Console(width=160)
    with console.capture() as capture:
        summaries.main(None, console)
    [row] = [line.split() for line in capture.get().splitlines() if line.split()[:1] == ["all"]]
    name, _, _, cached, cost, _, our_cached, our_cost = row
    assert (name, cached) == ("all", "0.0")
    assert float(our_cached) > 60 and int(our_cost.replace(",", "")) < int(cost.replace(",", "")) / 3
