"""deepagents' evals in the arm of our middleware: a checkout in miniature, a script answers the mailbox."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from integrations.deepagents_evals.__main__ import main

pytest.importorskip("deepagents")

EVAL = """
from deepagents import create_deep_agent
def number(of: str) -> str:
    "Return a number."
    return "7"
def ask(model, question):
    agent = create_deep_agent(model=model, tools=[number])
    assert "7" in agent.invoke({"messages": [("user", question)]})["messages"][-1].text
def test_number(model):
    ask(model, "Which number?")
def test_wrong(model):
    ask(model, "Another?")
"""
QUESTION = {"input": "How many pets?", "ground_truth": "1,200 records"}
PETS = "".join(
    f"### pet-{n} (owner: pers-{n // 3})\npet_id: pet-{n}\nname: {'Ann' if n % 2 else 'Bo'}\n\n" for n in range(1_200)
)
ANSWERS = [
    *(["--call", "number", '{"of": "a"}'], ["--text", "It is 7."], ["--text", "none"]),
    *(["--call", "open_files", '{"file_name": "pets.txt"}'], ["--text", "There are $1200."]),
]


def test_tasks_run_in_an_arm_and_a_mailbox_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench, suite = tmp_path / "harbor_adapters/contextbench/vendor", tmp_path / "tests/evals"
    calibrated = tmp_path / "datasets/context-retrieval-evals/calibration.json"
    for path, text in {
        tmp_path / "tests/__init__.py": "",
        suite / "utils.py": "",
        suite / "test_tool_selection.py": EVAL,
        bench / "files/pets.txt": PETS,
        bench / "filesystem_cloud.jsonl": json.dumps(QUESTION),
        calibrated: json.dumps({"tasks": {"cb-cloud-0": {}}}),
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    box, out = tmp_path / "box", tmp_path / "accp.jsonl"
    options = ["--evals", tmp_path, "--arm", "accp", "--model", f"mailbox:{box}", "--out", out]
    lists = ["--list", "tool_selection", "--list", "context_bench"]
    command = [sys.executable, "-m", "integrations.deepagents_evals", "run", *map(str, options), *lists]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
        main(["answer", str(box)])
        for answer in ANSWERS[:-1]:
            main(["answer", str(box), *answer])
        shown = capsys.readouterr().out
        with pytest.raises(SystemExit, match="all tasks are done"):
            main(["answer", str(box), *ANSWERS[-1]])
    assert run.returncode == 0
    assert shown.count("A NEW task") == 3
    assert "accp_fetch" in shown
    assert len(shown) < len(PETS)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["right"], line["calls"]) for line in lines] == [(True, 2), (False, 1), (True, 2)]
    main(["table", str(out)])
    assert "| `accp` | 2 of 3 | 5 |" in capsys.readouterr().out
