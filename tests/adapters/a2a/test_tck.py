"""The script that runs A2A's own suite: it serves the agent, hands the address over, and gives back the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.a2a.tck import main

SUITE = """
import json, sys, urllib.request
url = sys.argv[sys.argv.index("--sut-host") + 1]
card = json.load(urllib.request.urlopen(url + "/.well-known/agent-card.json"))
declared = [each["uri"] for each in card["capabilities"].get("extensions", [])]
message = {"messageId": "tck-complete-task-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
headers = {"Content-Type": "application/json", "A2A-Version": "1.0"}
asked = urllib.request.Request(url, json.dumps(body).encode(), headers)
said = json.load(urllib.request.urlopen(asked))["result"]["task"]["status"]["message"]["parts"][0]["text"]
assert said == "Hello from TCK", said
sys.exit(40 + len(declared) if "--level" in sys.argv else 1)
"""


@pytest.mark.parametrize(("way", "code"), [([], 41), (["--plain"], 40), (["--always"], 41)])
def test_the_suite_is_run_against_the_agent(tmp_path: Path, way: list[str], code: int) -> None:
    (tmp_path / "run_tck.py").write_text(SUITE, encoding="utf-8")
    assert main([str(tmp_path), *way, "--level", "must"]) == code


def test_a_folder_without_the_suite_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert f"found {str(tmp_path)!r}" in capsys.readouterr().err
