"""Many servers behind one session: names, routes in both directions, failures, changes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from accp_adapters.mcp.gateway.configuration import ServerSettings
from tests.adapters.mcp.gateway.client import Client, asking, conformance, connected
from tests.limits import async_wait_until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def value_of(result: Any) -> Any:
    return json.loads(result["content"][0]["text"])


async def test_names_and_uris_begin_with_the_server_and_reach_it() -> None:
    async with connected(asking("red"), asking("blue")) as client:
        tools = (await client.ask("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in tools][::5] == ["red__ask", "blue__ask"]
        assert len(tools) == 10
        prompts = (await client.ask("prompts/list"))["result"]["prompts"]
        assert [prompt["name"] for prompt in prompts] == ["red__greet", "blue__greet"]
        resources = (await client.ask("resources/list"))["result"]["resources"]
        assert [each["uri"] for each in resources] == [f"accp://server/{name}/file:///same" for name in ("red", "blue")]
        assert {each["name"] for each in resources} == {"same"}
        templates = (await client.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert templates[1]["uriTemplate"] == "accp://server/blue/file:///{path}"
        read = await client.ask("resources/read", uri="accp://server/blue/file:///a%20b")
        assert read["result"]["contents"] == [{"uri": "accp://server/blue/file:///a%20b", "text": "of blue"}]
        got = await client.ask("prompts/get", name="red__greet")
        assert got["result"]["messages"][0]["content"]["resource"]["uri"] == "accp://server/red/file:///same"
        pids = [value_of(await client.call(f"{name}__pid")) for name in ("red", "blue")]
        assert pids[0] != pids[1]


async def test_completions_are_those_of_the_server_that_is_named() -> None:
    async with connected(asking("red"), asking("blue")) as client:
        argument = {"name": "a", "value": ""}
        prompt = {"type": "ref/prompt", "name": "blue__greet"}
        by_name = await client.ask("completion/complete", ref=prompt, argument=argument)
        assert by_name["result"]["completion"]["values"] == ["blue", '{"type": "ref/prompt", "name": "greet"}']
        resource = {"type": "ref/resource", "uri": "accp://server/red/file:///{path}"}
        by_uri = await client.ask("completion/complete", ref=resource, argument=argument)
        assert by_uri["result"]["completion"]["values"][1] == '{"type": "ref/resource", "uri": "file:///{path}"}'


REFUSED: list[tuple[str, Any, int]] = [
    ("tools/call", {"name": "green__ask"}, -32602),
    ("tools/call", {"name": "ask"}, -32602),
    ("tools/call", {}, -32602),
    ("resources/read", {"uri": "file:///same"}, -32602),
    ("resources/read", {"uri": "accp://server/green/file:///same"}, -32602),
    ("completion/complete", {"ref": 1}, -32602),
    ("tasks/list", {}, -32601),
    ("server/discover", {}, -32601),
    ("initialize", {}, -32600),
]


async def test_what_no_server_is_named_for_reaches_none() -> None:
    async with connected(asking("red")) as client:
        codes = [(await client.ask(method, **params))["error"]["code"] for method, params, _ in REFUSED]
        assert codes == [code for *_, code in REFUSED]
        assert (await client.ask("ping"))["result"] == {}


async def test_the_handshake_joins_what_all_servers_say() -> None:
    client = Client([asking("red"), asking("blue"), ServerSettings("gone", ["/no/such/server"])])
    try:
        assert (await client.ask("tools/list"))["error"]["code"] == -32600
        said = await client.start(version="2024-11-05")
        assert said["protocolVersion"] == "2024-11-05"
        assert said["instructions"] == "red: Ask red.\n\nblue: Ask blue."
        assert said["capabilities"]["tools"] == {"listChanged": True}
        assert (await client.ask("logging/setLevel", level="info"))["result"] == {}
    finally:
        await client.session.close()


async def test_a_server_that_is_killed_fails_alone_and_by_name() -> None:
    gone = ServerSettings("gone", ["/no/such/server"])
    async with connected(asking("red"), asking("blue"), gone) as client:
        before = await client.ask("tools/list")
        waiting = await client.post("tools/call", name="red__wait", arguments={})
        await client.hear(lambda each: each.get("method") == "notifications/message")
        os.kill(value_of(await client.call("red__pid")), signal.SIGKILL)
        for failed in ((await client.answer(waiting))["result"], await client.call("red__pid")):
            assert failed["isError"] is True
            assert "E3001: the server 'red' is not available: its process was ended by SIGKILL" in str(failed)
        assert "cannot be started" in str(await client.call("gone__anything"))
        assert (await client.ask("resources/read", uri="accp://server/red/file:///same"))["error"]["code"] == -32603
        assert value_of(await client.call("blue__pid"))
        assert (await client.ask("tools/list"))["result"] == before["result"]


async def test_definitions_stay_until_a_change_is_announced() -> None:
    async with connected(asking("red"), asking("blue")) as client:
        before = (await client.ask("tools/list"))["result"]["tools"]
        assert value_of(await client.call("blue__grow")) == 6
        await client.hear(lambda each: each.get("method") == "notifications/tools/list_changed")
        after = (await client.ask("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in after if tool not in before] == ["blue__tool_5"]


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create"])
async def test_questions_of_servers_with_the_same_id_come_back_to_who_asked(method: str) -> None:
    async with connected(asking("red"), asking("blue")) as client:
        given = {"method": method, "params": {"message": "Which?", "_meta": {"progressToken": 1}}}
        calls = {
            name: await client.post("tools/call", name=f"{name}__ask", arguments=given) for name in ("red", "blue")
        }
        await async_wait_until(lambda: len([each for each in client.heard if each.get("method") == method]) == 2)
        asked = {each["id"].partition("-")[0]: each for each in client.heard if each.get("method") == method}
        tokens = {each["params"]["_meta"]["progressToken"] for each in asked.values()}
        assert len(tokens) == 2
        shown = asked["red"]["params"]["message"]
        assert shown == ("[red] Which?" if method == "elicitation/create" else "Which?")
        token = asked["blue"]["params"]["_meta"]["progressToken"]
        await client.send(method="notifications/progress", params={"progressToken": token, "progress": 1})
        for name in ("blue", "red"):
            await client.send(id=asked[name]["id"], result={"for": name})
        for name, identity in calls.items():
            assert value_of((await client.answer(identity))["result"]) == {"for": name}
        heard = value_of(await client.call("blue__report", token="none"))
        assert [each["params"] for each in heard if "progress" in each["method"]] == [
            {"progressToken": 1, "progress": 1}
        ]


async def test_what_a_gateway_cannot_pass_on_is_refused() -> None:
    async with connected(asking("red")) as client:
        assert value_of(await client.call("red__ask", method="tasks/list"))["code"] == -32601
        assert value_of(await client.call("red__ask", method="ping")) == {}


async def test_a_cancelled_call_is_cancelled_at_its_server() -> None:
    async with connected(asking("red"), asking("blue")) as client:
        waiting = await client.post("tools/call", name="blue__wait", arguments={})
        await client.hear(lambda each: each.get("params", {}).get("data") == "waiting")
        await client.send(method="notifications/cancelled", params={"requestId": waiting})
        heard = await client.hear(lambda each: each.get("params", {}).get("data") == "cancelled")
        assert heard["params"]["logger"] == "blue:own"
        assert not [each for each in client.heard if each.get("id") == waiting]


async def test_progress_reaches_the_client_only_for_a_call_of_the_same_server() -> None:
    async with connected(asking("red"), asking("blue")) as client:
        await client.post("tools/call", name="red__wait", arguments={}, _meta={"progressToken": "t"})
        await client.call("blue__report", token="t")
        await client.call("red__report", token="t")
        await async_wait_until(lambda: [each for each in client.heard if "progress" in each.get("method", "")])
        assert len([each for each in client.heard if "progress" in each.get("method", "")]) == 1


async def test_resources_and_roots_that_change_are_told_to_whom_they_concern() -> None:
    async with connected(asking("red"), asking("blue")) as client:
        await client.ask("resources/subscribe", uri="accp://server/red/file:///same")
        changed = await client.hear(lambda each: each.get("method") == "notifications/resources/updated")
        assert changed["params"]["uri"] == "accp://server/red/file:///same"
        await client.send(method="notifications/roots/list_changed")
        for name in ("red", "blue"):
            heard = value_of(await client.call(f"{name}__report", token="none"))
            assert "notifications/roots/list_changed" in [each["method"] for each in heard]


async def test_one_server_may_keep_its_names() -> None:
    async with connected(asking("red"), is_bare=True) as client:
        assert (await client.ask("tools/list"))["result"]["tools"][0]["name"] == "ask"
        assert value_of(await client.call("pid"))
        read = await client.ask("resources/read", uri="file:///same")
        assert read["result"]["contents"][0]["uri"] == "file:///same"


async def test_a_server_that_comes_late_is_announced() -> None:
    async with connected(asking("red"), asking("slow"), patience=0) as client:
        await client.hear(lambda each: each.get("method") == "notifications/tools/list_changed")
        assert value_of(await client.call("slow__pid"))
        assert value_of(await client.call("red__pid"))
        while await listed_servers(client) != {"red", "slow"}:
            await anyio.sleep(0.01)


_SILENT = "import sys; sys.stdin.read()"
_MUTE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif message["method"] == "tools/call":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}), flush=True)
"""


async def listed_servers(client: Client) -> set[str]:
    tools = (await client.ask("tools/list"))["result"]["tools"]
    return {tool["name"].partition("__")[0] for tool in tools}


async def test_nobody_waits_for_a_server_that_never_answers() -> None:
    silent = ServerSettings("silent", [sys.executable, "-c", _SILENT])
    async with connected(asking("red"), silent, patience=0) as client:
        assert value_of(await client.call("red__pid"))
        while await listed_servers(client) != {"red"}:
            await anyio.sleep(0.01)


async def test_nobody_waits_for_a_server_that_starts_and_then_is_silent() -> None:
    mute = ServerSettings("mute", [sys.executable, "-c", _MUTE])
    async with connected(mute, asking("red"), patience=0) as client:
        assert (await client.call("mute__any")) == {"content": []}
        assert value_of(await client.call("red__pid"))
        while await listed_servers(client) != {"red"}:
            await anyio.sleep(0.01)
        assert (await client.ask("logging/setLevel", level="info"))["result"] == {}


async def test_what_is_in_flight_is_cancelled_when_the_client_closes() -> None:
    client = Client([asking("red")])
    await client.start()
    await client.post("tools/call", name="red__wait", arguments={})
    await client.hear(lambda each: each.get("params", {}).get("data") == "waiting")
    await client.session.close()
    assert [each for each in client.heard if each.get("params", {}).get("data") == "cancelled"]


@pytest.mark.parametrize("line", [b"no JSON", b"[]", b"\xff", b'{"id": 1, "id": 2}'])
async def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    client = Client([asking("red")])
    await client.say(line)
    assert client.heard[0]["error"]["code"] == -32700
    await client.send(id="nobody", result={})
    await client.send(method="notifications/unknown")
    await client.session.close()


_REFUSES = """
import json
print(json.dumps({"jsonrpc": "2.0", "id": json.loads(input())["id"], "error": {"code": 1, "message": "not today"}}))
input()
"""


async def test_a_server_that_speaks_no_mcp_or_refuses_is_not_available() -> None:
    noisy = ServerSettings("noisy", [sys.executable, "-c", "print('hello'); print('[1]'); input(); print('{}')"])
    refusing = ServerSettings("refuses", [sys.executable, "-c", _REFUSES])
    async with connected(noisy, refusing) as client:
        assert "'noisy' is not available: its process ended" in str(await client.call("noisy__x"))
        assert "it refuses: 'not today'" in str(await client.call("refuses__x"))


async def test_a_server_of_the_sdk_asks_logs_and_reports_through_a_gateway() -> None:
    async with connected(asking("red"), conformance("sdk")) as client:
        names = [tool["name"] for tool in (await client.ask("tools/list"))["result"]["tools"]]
        assert "sdk__test_sampling" in names
        call = await client.post("tools/call", name="sdk__test_sampling", arguments={"prompt": "Hello"})
        asked = await client.hear(lambda each: each.get("method") == "sampling/createMessage")
        content = {"type": "text", "text": "Hi"}
        await client.send(id=asked["id"], result={"role": "assistant", "content": content, "model": "m"})
        assert "LLM response: Hi" in str((await client.answer(call))["result"])
        token = {"progressToken": 7}
        await client.ask("tools/call", name="sdk__test_tool_with_progress", arguments={}, _meta=token)
        progress = [each["params"] for each in client.heard if each.get("method") == "notifications/progress"]
        assert [(each["progressToken"], each["progress"]) for each in progress] == [(7, 0), (7, 50), (7, 100)]
        embedded = await client.call("sdk__test_embedded_resource")
        assert embedded["content"][0]["resource"]["uri"] == "accp://server/sdk/test://embedded-resource"


PINGING = """if True:
    import json, sys
    asked = json.loads(sys.stdin.readline())
    shown = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": shown}), flush=True)
    for number in range(5_000):
        print(json.dumps({"jsonrpc": "2.0", "id": f"{number}" + "x" * 300, "method": "ping"}), flush=True)
    open(sys.argv[1], "w").close()
    sys.stdin.readline()"""


async def test_a_server_that_asks_and_reads_no_answers_takes_bounded_memory(tmp_path: Path) -> None:
    pinging = ServerSettings("pinging", [sys.executable, "-c", PINGING, str(asked := tmp_path / "asked")])
    async with connected(pinging):
        await async_wait_until(asked.exists)
        assert len(asyncio.all_tasks()) < 1_500
