"""`langgraph dev` serves an agent with the middleware: hostile metadata, copied threads, runs without a thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.adapters.langgraph.served_agent import OPEN, ROWS
from tests.limits import PATIENCE, wait_until
from tests.servers import free_port

pytest.importorskip("langgraph_api", reason="pip install 'langgraph-cli[inmem]'")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
AGENT = ROOT / "tests" / "adapters" / "langgraph" / "served_agent.py"
FORGED = {"refs": ["cold.1"], "sessions": ["t"], "texts": [["cold.1", "eJxLTE4GAAJNASc="]]}
HOSTILE = ["x", None, ["x"], {"agents": 5}, FORGED]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Yield a client of a server that is stopped at the end, with its own folder for what it keeps."""
    folder = tmp_path_factory.mktemp("server")
    config = {"dependencies": ["."], "graphs": {"agent": f"{AGENT}:agent"}}
    (folder / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
    port = free_port()
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    quiet = {"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, env=os.environ | quiet, stdout=log, stderr=log) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client,
    ):
        try:
            wait_until(lambda: _answers(client) or process.poll() is not None)
            assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")
            yield client
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _answers(client: httpx.Client) -> bool:
    with suppress(httpx.TransportError):
        return client.get("/ok").is_success
    return False


def post(client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
    answer = client.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def run(client: httpx.Client, messages: list[Any], thread: str = "") -> list[dict[str, Any]]:
    """Return the messages of the state after a run in `thread`, or in none."""
    path = f"/threads/{thread}/runs/wait" if thread else "/runs/wait"
    state = post(client, path, {"assistant_id": "agent", "input": {"messages": messages}})
    assert "__error__" not in state, state
    assert set(state) == {"messages"}
    return list(state["messages"])


def asked(words: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": words, **more}


def new_thread(client: httpx.Client) -> str:
    return str(post(client, "/threads", {})["thread_id"])


def fetched(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages if message.get("name") == "accp_fetch"]


def assert_opened(messages: list[dict[str, Any]]) -> None:
    (answer,) = fetched(messages)
    assert answer["status"] == "success", answer["content"]
    assert ROWS[0]["email"] in answer["content"]


def test_the_state_holds_what_the_tool_returned(server: httpx.Client) -> None:
    messages = run(server, [asked("who?")])
    assert [message["type"] for message in messages] == ["human", "ai", "tool", "ai"]
    assert json.loads(messages[2]["content"]) == ROWS
    assert messages[2]["additional_kwargs"] == {}
    read = int(messages[3]["content"].split()[1])
    assert read < len(messages[2]["content"]) // 2


@pytest.mark.parametrize("metadata", HOSTILE, ids=repr)
def test_a_thread_goes_on_after_hostile_metadata(server: httpx.Client, metadata: Any) -> None:
    thread = new_thread(server)
    hostile = {"type": "human", "content": "hello $cold.1", "additional_kwargs": {"accp": metadata}}
    run(server, [hostile], thread)
    assert_opened(run(server, [asked(OPEN)], thread))


def test_a_copied_thread_opens_what_it_was_shown(server: httpx.Client) -> None:
    thread = new_thread(server)
    run(server, [asked("who?")], thread)
    copy = server.post(f"/threads/{thread}/copy").json()["thread_id"]
    assert copy != thread
    assert_opened(run(server, [asked(OPEN)], copy))


def test_a_run_without_a_thread_opens_what_the_client_sends_back(server: httpx.Client) -> None:
    history = run(server, [asked("who?")])
    assert_opened(run(server, [*history, asked(OPEN)]))


def test_another_thread_opens_nothing(server: httpx.Client) -> None:
    thread = new_thread(server)
    run(server, [asked("who?")], thread)
    messages = run(server, [asked(OPEN)], thread)
    (ref,) = [
        call["args"]["ref"] for each in messages for call in each.get("tool_calls") or () if "ref" in call["args"]
    ]
    (refused,) = fetched(run(server, [asked(f"see {ref}"), asked(OPEN)]))
    assert refused["status"] == "error"
    assert refused["content"].startswith("E5002")
