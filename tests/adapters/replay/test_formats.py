import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumps
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)

from accp_adapters.replay import Role, Run, RunFormat, parse_runs, read_runs
from accp_adapters.replay.errors import UnreadableRun
from tests.adapters.replay.runs import FLIGHTS, chat, trajectory


def langchain_messages() -> list[BaseMessage]:
    call = {"name": "search", "args": {"to": "SEA"}, "id": "c1", "type": "tool_call"}
    return [
        SystemMessage("You book flights."),
        HumanMessage("To Seattle"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(json.dumps(FLIGHTS), tool_call_id="c1"),
        AIMessage("Take HAT083 for 1,100 dollars."),
    ]


TEXTS = {
    "openai list": json.dumps(chat()),
    "openai request": json.dumps({"model": "m", "messages": chat()}, indent=2),
    "openai runs": json.dumps([{"messages": chat()}]),
    "openai lines": "\n".join(map(json.dumps, chat())),
    "langchain messages_to_dict": json.dumps(messages_to_dict(langchain_messages())),
    "langchain dumps": dumps(langchain_messages()),
    "langchain state": json.dumps({"messages": messages_to_dict(langchain_messages())}),
    "trajectory": json.dumps(trajectory()) + "\n",
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


def test_each_line_of_a_jsonl_file_is_a_run() -> None:
    text = "\n\n".join([json.dumps({"messages": chat()})] * 3)
    assert [run.name for run in read(text)] == ["runs.json:1", "runs.json:3", "runs.json:5"]


def test_tool_definitions_of_the_request_are_part_of_every_call() -> None:
    (run,) = read(json.dumps({"messages": chat(), "tools": [{"name": "search"}]}))
    assert {call.tools for call in run.calls} == {'[{"name":"search"}]'}


def test_tool_definitions_may_stand_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "runs.tools.json").write_text('[{"name": "search"}]', encoding="utf-8")
    path = str(tmp_path / "runs.jsonl")
    (run,) = parse_runs(json.dumps(trajectory()), path=path)
    assert {call.tools for call in run.calls} == {'[{"name":"search"}]'}


def test_recorded_requests_count_as_they_were_sent() -> None:
    call = {"agent": "clerk", "prompt": [1, 3], "completion": [4], "tools": "h1"}
    (run,) = read(json.dumps(trajectory(llm_calls=[call], tools={"h1": [{"name": "search"}]})))
    (only,) = run.calls
    assert (only.prompt, only.output, only.tools) == ((1, 3), (4,), '[{"name":"search"}]')


def test_a_text_that_no_layout_rebuilds_is_taken_from_the_recording() -> None:
    line = trajectory()
    line["messages"][3] = line["messages"][3] | {"raw": '[ "as it was" ]'}
    assert read(json.dumps(line))[0].messages[3].text == '[ "as it was" ]'


def test_an_assistant_with_text_and_calls_makes_one_model_call() -> None:
    messages = chat()
    messages[2]["content"] = "Let me look."
    (run,) = read(json.dumps(messages))
    assert run.calls[0].output == (2, 3)


def test_named_assistants_are_different_agents_that_see_everything() -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "name": "scout", "content": "found HAT069"},
        {"role": "assistant", "name": "clerk", "content": "booked HAT069"},
    ]
    (run,) = read(json.dumps(messages))
    assert [(call.agent, call.prompt) for call in run.calls] == [("scout", (0,)), ("clerk", (0, 1))]


def test_langchain_chat_messages_keep_their_role() -> None:
    messages = messages_to_dict([ChatMessage(content="go", role="user"), AIMessage("done")])
    (run,) = read(json.dumps(messages))
    assert run.messages[0].role is Role.USER


def test_agents_of_a_trajectory_see_what_reached_them_and_what_went_to_the_group() -> None:
    rows = [
        ("boss", "a", "user"),
        ("boss", "b", "user"),
        ("boss", "group", "user"),
        ("a", "boss", "assistant"),
    ]
    line = trajectory()
    line["messages"] = [
        {"seq": i, "turn": i, "from": sender, "to": to, "role": role, "kind": "request", "content": "x"}
        | {"llm": role == "assistant"}
        for i, (sender, to, role) in enumerate(rows)
    ]
    (run,) = read(json.dumps(line))
    assert run.calls[0].prompt == (0, 2)


def refused(text: str, **options: Any) -> str:
    with pytest.raises(UnreadableRun) as caught:
        read(text, **options)
    return str(caught.value)


def test_broken_json_is_refused_with_line_and_column() -> None:
    assert refused('{"messages": [\n  {"role": }]}').startswith("runs.json:2:12: Expecting value")


def test_a_broken_line_of_a_jsonl_file_is_refused_with_its_number() -> None:
    text = json.dumps({"messages": chat()}) + '\n{"messages": [}\n'
    assert refused(text).startswith("runs.json:2:15: ")


@pytest.mark.parametrize("text", ["[]", "{}", "17", '{"messages": [{"text": "x"}]}', ""])
def test_json_that_is_no_run_is_refused(text: str) -> None:
    assert "runs.json:1:1: " in refused(text)


def test_a_missing_field_is_named() -> None:
    line = trajectory()
    del line["messages"][1]["to"]
    assert refused(json.dumps(line)) == "runs.json:1:1: missing field 'to'"


def test_content_that_is_no_text_is_refused() -> None:
    assert "expected content as text" in refused(json.dumps([{"role": "user", "content": 5}]))


def test_a_format_can_be_forced() -> None:
    assert "missing field 'trajectory_id'" in refused(json.dumps({"messages": []}), run_format=RunFormat.TRAJECTORIES)
    assert read(json.dumps({"messages": []}), run_format=RunFormat.OPENAI)[0].calls == ()


def test_broken_tool_definitions_are_refused_by_their_own_name(tmp_path: Path) -> None:
    beside = tmp_path / "runs.tools.json"
    beside.write_text("[", encoding="utf-8")
    with pytest.raises(UnreadableRun, match=r"runs\.tools\.json:1:2: "):
        parse_runs(json.dumps(chat()), path=str(tmp_path / "runs.json"))


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    assert "nested too deeply" in refused("[" * 200_000)


def test_runs_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(chat()), encoding="utf-8")
    (run,) = read_runs(path)
    assert (run.name, run.source) == (f"{path}:1", str(path))
