"""Every vector with parts of it replaced: a run, or a refusal that names the file and the line, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.replay import Findings, UnreadableRun, parse_runs, read_runs
from tests.adapters.replay.runs import chat


@pytest.mark.parametrize("first", ['{"messages": [{"role": "us', "2026-11-23 log opened", '{"a": 1, "a": 2}'])
def test_a_broken_first_line_is_named_and_the_others_are_read(first: str) -> None:
    findings = Findings()
    record = json.dumps({"messages": chat()})
    runs = parse_runs(f"{first}\n\n{record}\n{{broken\n{record}\n", path="log.jsonl", findings=findings)
    assert [run.name for run in runs] == ["log.jsonl:3", "log.jsonl:5"]
    assert [(finding.path, finding.line) for finding in findings.not_understood()] == [
        ("log.jsonl", 1), ("log.jsonl", 4)
    ]  # fmt: skip
    with pytest.raises(UnreadableRun) as refused:
        parse_runs(f"{first}\n{record}", path="log.jsonl")
    assert (refused.value.path, refused.value.line) == ("log.jsonl", 1)


@pytest.mark.parametrize(
    ("text", "lines", "broken"),
    [
        (json.dumps({"messages": chat()}, indent=1) * 2, 2, 0),
        ("begin\n" + json.dumps({"messages": chat()}, indent=1) + "\nend", 1, 2),
        (json.dumps([{"messages": chat()}] * 3, indent=1)[:-20], 2, 1),
        (json.dumps([{"messages": chat()}] * 3)[:-20], 2, 1),
        ("{}\n" + json.dumps({"messages": chat()}) + "\n{}", 1, 2),
    ],
)
def test_documents_behind_each_other_are_read_and_what_is_complete_of_an_array(
    text: str, lines: int, broken: int
) -> None:
    findings = Findings()
    assert len(parse_runs(text, path="log.json", findings=findings)) == lines
    assert sum(each.count for each in findings.not_understood()) == broken


def test_broken_utf_8_in_the_first_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path, record = tmp_path / "log.jsonl", json.dumps({"messages": chat()}).encode()
    path.write_bytes(b'{"messages": "\xff"}\n' + record + b"\n\xff\n" + record + b"\n")
    findings = Findings()
    runs = list(read_runs(path, findings=findings))
    assert [run.name.rpartition(":")[2] for run in runs] == ["2", "4"]
    assert [(finding.line, finding.count) for finding in findings.not_understood()] == [(1, 2)]
    path.write_bytes(b'{"messages": "\xff"}\n')
    with pytest.raises(UnreadableRun) as refused:
        list(read_runs(path, findings=Findings()))
    assert (refused.value.line, refused.value.column) == (1, 15)


def test_values_that_are_nested_too_deeply_are_refused_in_every_place() -> None:
    deep: Any = "[" * 900 + "]" * 900
    message = {"type": "tool_use", "id": "c1", "name": "search", "input": "DEEP"}
    document = json.dumps([{"role": "assistant", "content": [message]}]).replace('"DEEP"', deep)
    try:
        parse_runs(document, path="log.json", findings=Findings())
    except UnreadableRun as refused:
        assert "recursion" in str(refused) or "nested" in str(refused)
