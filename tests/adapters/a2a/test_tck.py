"""The script that runs A2A's own suite: it serves the agent, hands the address over, and gives back the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.a2a import round_trip as round_trip_module
from tests.adapters.a2a.calls import asking, connect, request, told
from tests.adapters.a2a.serve import always, plain, round_trip, serve
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


@pytest.mark.parametrize(("way", "code"), [([], 42), (["--plain"], 40)])
def test_the_suite_is_run_against_the_agent(tmp_path: Path, way: list[str], code: int) -> None:
    (tmp_path / "run_tck.py").write_text(SUITE, encoding="utf-8")
    assert main([str(tmp_path), *way, "--level", "must"]) == code


def test_a_folder_without_the_suite_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert f"found {str(tmp_path)!r}" in capsys.readouterr().err


ASKING_SUITE = """
import os, subprocess, sys
command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "inner.py", *sys.argv[1:3]]
sys.exit(subprocess.run(command, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}).returncode)
"""
INNER = """
import grpc, httpx, os
from a2a.types import Message, Part, Role, SendMessageRequest
from a2a.types.a2a_pb2_grpc import A2AServiceStub

def test_both_clients_ask(sut_host):
    card = httpx.get(sut_host + "/.well-known/agent-card.json").json()
    message = {"messageId": "several-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    with httpx.Client(headers={"A2A-Version": "1.0"}, timeout=120) as client:
        assert "application/accp" in client.post(sut_host, json=body).text
        own = client.post(sut_host, json=body, headers={"A2A-Extensions": "urn:other"})
        assert "application/accp" not in own.text
    (address,) = (each["url"] for each in card["supportedInterfaces"] if each["protocolBinding"] == "GRPC")
    asked = SendMessageRequest(message=Message(message_id="several-2", role=Role.ROLE_USER, parts=[Part(text="hi")]))
    with grpc.insecure_channel(address) as channel:
        stub = A2AServiceStub(channel)
        assert "application/accp" in str(stub.SendMessage(asked, metadata=(("a2a-version", "1.0"),)))
        assert "application/accp" in str(list(stub.SendStreamingMessage(asked, metadata=(("a2a-version", "1.0"),))))
"""
CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--sut-host")

@pytest.fixture
def sut_host(request):
    return request.config.getoption("--sut-host")
"""


@pytest.mark.slow
def test_the_clients_of_the_suite_ask_for_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.adapters.a2a.tck.round_trip", always)  # what the clients are sent, before it is decoded
    for name, text in (("run_tck.py", ASKING_SUITE), ("inner.py", INNER), ("conftest.py", CONFTEST)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main([str(tmp_path), "--ask"]) == 0


@pytest.mark.parametrize("streaming", [False, True])
async def test_who_asks_without_reading_frames_is_given_what_went_through_them(
    streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    decode = round_trip_module.decode
    monkeypatch.setattr(
        round_trip_module, "decode", lambda event, *at: (sent.append(str(event)), decode(event, *at))[1]
    )
    results = []
    for wrap in (plain, round_trip):
        async with serve(wrap) as served, await connect(served.card, streaming=streaming, aware=False) as client:
            results.append(await told(client, request("several-round"), context=asking()))
            assert served.agent.seen[0].parts == request("several-round").message.parts
    assert results[0] == results[1]
    assert "@agent>" in str(sent)
