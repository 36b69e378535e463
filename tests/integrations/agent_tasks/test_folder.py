"""Tasks over tool results of one's own: a folder of documents and what is asked of them."""

import json
from pathlib import Path

import pytest

from integrations.agent_tasks.chat.mailbox import Answered, MailboxModel
from integrations.agent_tasks.run import TaskOptions, evaluate_tasks
from integrations.agent_tasks.run_file import read_run

CALLS = [{"tool": "list_orders", "document": "orders.json"}, {"tool": "read_mail", "document": "mail.txt"}]
TASK = {"id": "buyer", "request": "Who bought {most}?", "calls": CALLS, "answer": ["Ada", "7"], "decoys": ["Bo"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "orders.json").write_text('[{"who": "Ada", "count": 7}]', encoding="utf-8")
    (tmp_path / "documents" / "mail.txt").write_text("Bo wrote a mail.", encoding="utf-8")
    (tmp_path / "tasks.json").write_text(json.dumps([TASK]), encoding="utf-8")
    return tmp_path


def player(answer: str) -> MailboxModel:
    """Call all tools, then give the answer; the second prompt shows what they returned."""

    def ask(prompt: str) -> Answered:
        letter = json.loads(prompt)
        if len(letter["messages"]) == 2:
            assert "Who bought {most}?" in letter["messages"][1]["content"]
            calls = [{"name": tool["function"]["name"], "arguments": {}} for tool in letter["tools"]]
            return Answered(text=json.dumps({"tool_calls": calls}), tokens_in=1, tokens_out=1)
        assert "Bo wrote a mail." in prompt
        return Answered(text=answer, tokens_in=1, tokens_out=1)

    return MailboxModel(ask=ask)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("Looked.\nAnswer: Ada, 7", True),
        ("Answer: ada bought 7", True),
        ("Ada bought 7, Bo none.\nAnswer: Ada", True),
        ("Answer: Ada", False),
        ("Answer: Ada 7, or Bo", False),
        ("Ada bought 7", False),
    ],
)
def test_an_answer_holds_what_is_right_and_nothing_that_is_wrong(folder: Path, answer: str, right: bool) -> None:
    out = folder / "run.jsonl"
    options = TaskOptions(arms=("without",), folder=folder)
    (arm,) = evaluate_tasks(player(answer), options=options, run_file=out).arms
    assert (arm.right, arm.calls, arm.fetches) == (right, 2, 0)
    _, answers = read_run(out)
    assert [line["right"] for line in answers.values()] == [right]


def test_a_file_that_holds_no_tasks_says_what_is_expected(folder: Path) -> None:
    (folder / "tasks.json").write_text('[{"id": "a"}]', encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"expected tasks with id, request, calls and answer in .*tasks\.json: 'calls'"
    ):
        TaskOptions(folder=folder).tasks()
