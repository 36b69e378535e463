import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.cli.demo.scripted_model import next_turn
from accp_adapters.cli.demo.tool_answers import MustCall, ToolAnswers
from accp_adapters.tokens import o200k_base
from accp_core.references import StoredText
from accp_core.view import render

ROWS = [{"path": "a.py", "lines": 10}, {"path": "b.py", "lines": 30}, {"path": "c.py", "lines": 20}]
REF = StoredText.of("rows").reference


def said(text: str, call_id: str = "c", *, error: bool = False) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id, status="error" if error else "success")


def rows(*messages: BaseMessage, can_fetch: bool = True) -> list[dict[str, Any]]:
    return ToolAnswers(messages, can_fetch).rows("c", "list_files", {}, "path,lines")


def line(*messages: BaseMessage) -> str:
    return ToolAnswers(messages, True).line_with("c", "read_file", {"path": "a.py"}, "def main")


def next_call(error: MustCall) -> tuple[str, dict[str, Any]]:
    (call,) = error.message.tool_calls
    return call["name"], call["args"]


def test_a_tool_that_has_not_answered_is_called() -> None:
    with pytest.raises(MustCall) as caught:
        rows()
    assert next_call(caught.value) == ("list_files", {})


@pytest.mark.parametrize("text", [json.dumps(ROWS), render(ROWS, counter=o200k_base())])
def test_rows_are_read_from_json_and_from_a_view(text: str) -> None:
    assert rows(said(text)) == ROWS


@pytest.mark.parametrize("text", ["", "nothing found: {", "17"])
def test_a_text_without_rows_has_none(text: str) -> None:
    assert rows(said(text)) == []


def test_a_preview_is_fetched_page_by_page() -> None:
    preview = said(f"a.py\n… the rest is intact under {REF}")
    first = said(json.dumps(ROWS[:2]) + "\n… rows 0-1 of 3; next: offset=2", "c-part-1")
    last = said(json.dumps(ROWS[2:]) + "\n… rows 2-2 of 3", "c-part-2")
    calls = []
    for messages in ([preview], [preview, first]):
        with pytest.raises(MustCall) as caught:
            rows(*messages)
        calls.append(next_call(caught.value))
    assert calls == [("accp_fetch", {"ref": REF, "query": "path,lines", "offset": offset}) for offset in (0, 2)]
    assert rows(preview, first, last) == ROWS


def test_a_refused_reference_was_only_text() -> None:
    text = json.dumps([{"path": REF, "lines": 1}])
    assert rows(said(text), said("E5002", "c-part-1", error=True)) == [{"path": REF, "lines": 1}]


def test_without_the_fetch_tool_a_reference_is_text() -> None:
    assert rows(said(json.dumps([{"path": REF}])), can_fetch=False) == [{"path": REF}]


def test_a_line_is_found_in_a_text_and_in_what_was_fetched_of_it() -> None:
    whole = "import os\n\n  def main() -> None:\n    ..."
    assert line(said(whole)) == "def main() -> None:"
    assert line(said(f"import os … {REF}"), said("2:   def main() -> None:\n", "c-part-1")) == "def main() -> None:"
    assert line(said("nothing")) == ""


class Tools:
    """Answers the calls of the script from a table, so that a test can change what they say."""

    def __init__(self, **changes: Any) -> None:
        self.answers: dict[str, Any] = {
            "call-list": ROWS,
            "call-history": [
                {"author": "Ann", "date": "2026-03-01", "subject": "Begin", "files": ["b.py", "a.py"]},
                {"author": "Bo", "date": "2026-02-01", "subject": "Go", "files": ["b.py"]},
            ],
            "call-search": [{"path": "a.py", "line": 3}],
            "call-folders": [{"folder": ".", "files": 3, "lines": 60}],
            "call-definitions": [
                {"path": "c.py", "kind": "class", "name": "B", "line": 1},
                {"path": "c.py", "kind": "def", "name": "main", "line": 9},
            ],
            "call-read": "class B:\ndef main(): ...",
        } | changes

    def answer(self) -> tuple[str, Sequence[BaseMessage]]:
        messages: list[BaseMessage] = [HumanMessage("go")]
        while (turn := next_turn(messages, can_fetch=False)).tool_calls:
            (call,) = turn.tool_calls
            found = self.answers[str(call["id"])]
            text = found if isinstance(found, str) else json.dumps(found)
            messages += [turn, said(text, str(call["id"]))]
        return turn.text, messages


def test_the_note_says_what_the_tools_said() -> None:
    note, messages = Tools().answer()
    for fact in (
        "b.py (30 lines)",
        '2026-03-01 by Ann, "Begin"',
        "b.py (2), a.py (1)",
        "a.py:3",
        "def main(): ...",
    ):
        assert fact in note
    calls = [call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    assert calls[2]["args"] == {"words": "b.py"}
    assert calls[5]["args"] == {"path": "c.py"}


def test_what_the_folder_has_not_is_left_out_of_the_note() -> None:
    nothing = {"call-history": [], "call-search": [{"path": "b.py", "line": 1}], "call-definitions": []}
    note, messages = Tools(**nothing).answer()
    assert [line.partition(":")[0] for line in note.splitlines()] == ["Longest files", "Lines by folder"]
    assert not any(call["name"] == "read_file" for m in messages if isinstance(m, AIMessage) for call in m.tool_calls)


@pytest.mark.parametrize(
    ("call_id", "changed"),
    [
        ("call-list", [{"path": "a.py", "lines": 11}]),
        ("call-history", [{"author": "Cy", "date": "2026-03-01", "subject": "Begin", "files": ["b.py"]}]),
        ("call-history", []),
        ("call-search", []),
        ("call-folders", [{"folder": ".", "files": 3, "lines": 61}]),
        ("call-definitions", []),
        ("call-read", "class B:\ndef main(argument): ..."),
    ],
)
def test_the_note_changes_with_every_answer_of_a_tool(call_id: str, changed: Any) -> None:
    assert Tools(**{call_id: changed}).answer()[0] != Tools().answer()[0]
