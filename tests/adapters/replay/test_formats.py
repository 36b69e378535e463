import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumps
from langchain_core.messages import convert_to_messages, messages_to_dict

from accp_adapters.replay import Findings, Role, Run, parse_runs, read_runs
from accp_adapters.replay.recorded_run import UnreadableRun
from tests.adapters.replay.runs import FLIGHTS, chat

LANGCHAIN = convert_to_messages(chat())
TEXTS = {
    "openai list": json.dumps(chat()),
    "openai request": json.dumps({"model": "m", "messages": chat()}, indent=2),
    "openai runs": json.dumps([{"messages": chat()}]),
    "openai lines": "\n".join(map(json.dumps, chat())),
    "langchain messages_to_dict": json.dumps(messages_to_dict(LANGCHAIN)),
    "langchain dumps": dumps(LANGCHAIN),
    "langchain state": json.dumps({"messages": messages_to_dict(LANGCHAIN)}),
}


def read(text: str, **options: Any) -> list[Run]:
    return parse_runs(text, path="runs.json", **options)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_one_conversation_reads_the_same_in_every_format(text: str) -> None:
    (run,) = read(text)
    assert [message.text for message in run.messages] == [
        "You book flights.",
        "To Seattle",
        '{"to":"SEA"}',
        json.dumps(FLIGHTS),
        "Take HAT083 for 1,100 dollars.",
    ]
    assert [(call.prompt, call.output) for call in run.calls] == [((0, 1), (2,)), ((0, 1, 2, 3), (4,))]
    assert [message.role for message in run.messages] == [
        Role.INSTRUCTIONS, Role.USER, Role.AGENT, Role.TOOL, Role.AGENT
    ]  # fmt: skip
    assert run.messages[3].tool == "search"


def refused(text: str, **options: Any) -> str:
    with pytest.raises(UnreadableRun) as caught:
        read(text, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"messages": [}', "Expecting value"),
        (b'{"messages": [\xff]}', "expected UTF-8: invalid start byte"),
        (b'{"messages": [], "messages": []}', "expected each name once in an object, found 'messages' again"),
    ],
)
def test_a_broken_line_is_named_and_the_others_are_read(line: bytes, reason: str, tmp_path: Path) -> None:
    whole = json.dumps({"messages": chat()}).encode()
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\n".join((whole, line, whole)))
    findings = Findings()
    assert [run.name for run in read_runs(path, findings=findings)] == [f"{path}:1", f"{path}:3"]
    assert list(map(str, findings.not_understood())) == [f"1 record that cannot be read: {reason} ({path}:2)"]
    with pytest.raises(UnreadableRun, match=reason):
        list(read_runs(path))


def test_a_log_in_gzip_that_breaks_off_is_read_up_to_there(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({"messages": chat(), "id": n}).encode() + b"\n" for n in range(50))
    path = tmp_path / "runs.jsonl.gz"
    path.write_bytes(gzip.compress(lines, compresslevel=0)[: len(lines) // 2])
    findings = Findings()
    assert len(list(read_runs(path, findings=findings))) in range(20, 26)
    (finding,) = findings.not_understood()
    assert "1 record that cannot be read: expected gzip, found Compressed file ended" in str(finding)


def test_a_record_in_no_known_format_says_which_are() -> None:
    reason = refused('{"hello": 1}')
    assert "expected one of OpenTelemetry" in reason
    assert "Anthropic Messages" in reason and "found {'hello': 1}" in reason


def test_a_run_without_a_model_call_is_no_run() -> None:
    findings = Findings()
    text = json.dumps([{"role": "user", "content": "hello"}])
    assert parse_runs(text, path="runs.json", findings=findings) == []
    assert list(map(str, findings)) == ["1 record without a model call (runs.json:1)"]
    assert "not understood: record without a model call" in refused(text)


def test_requests_that_continue_each_other_are_one_run() -> None:
    lines = [json.dumps({"model": "m", "messages": chat()[:end]}) for end in (2, 4)]
    other = json.dumps({"model": "m", "messages": [{"role": "user", "content": "else"}]})
    first, second = read("\n".join((lines[0], other, lines[1])))
    assert [(call.prompt, call.output) for call in first.calls] == [((0, 1), (2,)), ((0, 1, 2, 3), ())]
    assert (len(second.calls), second.name) == (1, "runs.json:2")


def test_what_is_not_understood_is_named_with_its_place() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    odd = [
        {"role": "user", "content": [{"type": "text", "text": "what is this?"}, picture, picture], "mood": "so so"},
        {"role": "narrator", "content": "a voice"},
        {"role": "assistant", "content": "a cat", "reasoning_content": "hm"},
    ]
    text = "\n" + json.dumps({"messages": odd, "flavour": ["味"], "weight": 7, "effort": "very-high", "id": "r1"})
    findings = Findings()
    (run,) = parse_runs(text, path="runs.json", findings=findings)
    assert [message.text for message in run.messages] == ["what is this?", "a cat"]
    assert list(map(str, findings.not_understood())) == [
        "1 field 'flavour' of an OpenAI request (runs.json:2)",
        "1 field 'mood' of an OpenAI message (runs.json:2)",
        "2 blocks of type 'image_url' of an OpenAI message (runs.json:2)",
        "1 message with the role 'narrator' of an OpenAI conversation (runs.json:2)",
    ]
    assert list(map(str, findings.left_out())) == [
        "1 block of type 'reasoning_content' of an OpenAI message (runs.json:2)"
    ]
    with pytest.raises(UnreadableRun, match=r"runs\.json:2:1: not understood: field 'flavour'"):
        read(text)


def test_a_hostile_record_fills_no_memory_with_findings() -> None:
    messages = [{"role": f"r{number}", "content": ""} for number in range(2000)]
    findings = Findings()
    parse_runs(json.dumps({"model": "m", "messages": [*chat(), *messages]}), path="runs.json", findings=findings)
    assert len(list(findings)) <= 501
    assert sum(finding.count for finding in findings) == 2000


def test_other_agents_may_be_users_with_a_name() -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"role": "user", "name": "scout", "content": "found HAT069"},
        {"role": "assistant", "name": "clerk", "content": "booked HAT069"},
    ]
    text = json.dumps(messages)
    assert [call.agent for run in read(text) for call in run.calls] == ["clerk"]
    (run,) = read(text, agent_names=("scout",))
    assert [(call.agent, call.prompt) for call in run.calls] == [("scout", (0,)), ("clerk", (0, 1))]


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    assert "nested too deeply" in refused("[" * 200_000)
