import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from accp_adapters.replay import read_runs
from accp_core import Frame
from accp_core.ports import TokenCounter
from tests.adapters.replay.runs import trajectory
from tests.bench import (
    data,
    fixed_tokens,
    imports,
    limits,
    mcp_results,
    mcp_tools,
    payloads,
    peers,
    tool_results,
    trajectories,
    wire,
)
from tests.bench.__main__ import SECTIONS, main
from tests.bench.peers import Outcome

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
        *(payloads.main, tool_results.main, trajectories.main, limits.main, fixed_tokens.main),
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


def test_what_a_peer_reads_is_compared_with_types_and_order() -> None:
    value = {"rows": [{"id": 1, "price": 2.0}]}
    assert peers.outcome_of({"rows": [{"id": 1, "price": 2.0}]}, value) is Outcome.SAME
    assert peers.outcome_of({"rows": [{"price": 2.0, "id": 1}]}, value) is Outcome.REORDERED
    assert peers.outcome_of({"rows": [{"id": 1, "price": 2}]}, value) is Outcome.CHANGED
    assert peers.outcome_of({"rows": []}, value) is Outcome.CHANGED


def test_only_peers_that_were_run_are_named_and_one_that_reorders_keys_has_its_own_column(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encode(text: str, reading: Callable[[Any], Any]) -> Callable[[Any, TokenCounter], tuple[str, Any]]:
        return lambda value, count: (text, reading(value))

    def reordered(value: Any) -> Any:
        return [dict(reversed(row.items())) for row in value] if isinstance(value, list) else value

    encoders = {"changes": encode("x", lambda value: None), "reorders": encode("a b", reordered)}
    running = {
        name: peers.Peer(package="toon-format", module="toon_format", encode=each) for name, each in encoders.items()
    }
    monkeypatch.setattr(peers, "PEERS", {**running, "absent": replace(peers.PEERS["ZON"], module="not_installed")})
    monkeypatch.setattr(payloads, "MADE_PAYLOADS", {"made": lambda pick: {"n": 1}})
    console = Console(width=160)
    with console.capture() as capture:
        payloads.main(folder, console)
    [row] = [line.split() for line in capture.get().splitlines() if line.split()[:1] == ["flights"]]
    assert row[2:7] == [row[1], "compact", "JSON", "2*", "reorders"]
    assert "toon-format" in capture.get()
    assert "changes" not in capture.get()
    assert "absent" not in capture.get()


def test_the_geometric_mean_of_nothing_is_one() -> None:
    assert payloads.geometric_mean([]) == 1.0
    assert payloads.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)


def test_the_data_folder_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ACCP_DATA", str(tmp_path))
    assert data.find_data() == tmp_path
    monkeypatch.setenv("ACCP_DATA", str(tmp_path / "missing"))
    assert data.find_data() is None


def test_frames_are_measured_on_payloads_and_rows_as_people_have_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []

    def best(call: Callable[[], object]) -> float:
        read.append(call())
        return 1.0

    monkeypatch.setattr(wire, "best", best)
    console = Console(width=120)
    with console.capture() as table:
        wire.main(folder, console)
    assert all(name in table.get() for name in ("flights", "50 tickets", "a short frame"))
    assert {"mail", "url", "opened", "text"} <= wire.TICKETS[0].keys()
    assert {"data": wire.TICKETS} in [frame.params for frame in read if isinstance(frame, Frame)]


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


def test_a_start_is_measured_behind_its_framework() -> None:
    [start] = [each for each in imports.STARTS if each.name == "the first count"]
    framework, ours, whole = imports.measure(start, 1)
    assert 0 < framework < whole
    assert 0 < ours < whole


def test_a_program_that_ends_its_process_is_measured() -> None:
    assert min(imports.measure(imports.Start("end", "raise SystemExit(0)", "import json"), 1)) >= 0


def test_sections_are_run_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCP_DATA", str(folder))
    console = Console(width=120)
    with console.capture() as capture:
        assert main(["payloads"], console) == 0
        assert main(["nonsense"], console) == 2
    assert "1. payloads" in capture.get()
    assert set(SECTIONS) == {
        *("payloads", "tool_results", "trajectories", "speed", "imports"),
        *("wire", "session", "patterns", "latency", "a2a", "aacp"),
        *("mcp_results", "mcp_tools", "mcp_latency", "network", "limits", "large_results"),
        "fixed_tokens",
    }
