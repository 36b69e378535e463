"""A wrapped server behind streamable HTTP, as its users run it: both eras, two clients, one session each."""

from __future__ import annotations

import json
import re
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from accp_adapters.mcp import Encoder, wrap_server, wrap_transport
from accp_adapters.stores import SqliteColdStore
from tests.adapters.mcp.sdk import MAJOR, ROWS

if MAJOR < 2:
    pytest.skip("needs mcp 2.x", allow_module_level=True)

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context

from tests.adapters.mcp.messages import CAPABILITIES, Json
from tests.adapters.mcp.serving import serving
from tests.limits import PATIENCE

MODES = ("legacy", "2026-07-28", "auto")


def app(**settings: Any) -> Any:
    server = MCPServer("parts")

    @server.tool()
    def find() -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS

    return wrap_server(server, **settings).streamable_http_app()


@pytest.mark.parametrize("mode", MODES)
async def test_each_client_gets_what_it_understands(mode: Any) -> None:
    with serving(app(), lifespan="on") as origin:
        url = f"{origin}/mcp"
        async with (
            Client(url, mode=mode) as unaware,
            Client(wrap_transport(streamable_http_client(url), view="frame"), mode=mode) as aware,
            Client(wrap_transport(streamable_http_client(url)), mode=mode) as decoding,
        ):
            plain = await unaware.call_tool("find", {})
            frame = await aware.call_tool("find", {})
            decoded = await decoding.call_tool("find", {})
    assert [json.loads(block.text) for block in plain.content] == ROWS
    assert frame.content[0].resource.text.startswith("@mcp>done:tool{")
    assert decoded == plain


class Verifier:
    """Checks tokens like `ann-1`: the first one of the subject `ann`."""

    async def verify_token(self, token: str) -> AccessToken:
        return AccessToken(token=token, client_id="c", scopes=[], subject=token.partition("-")[0])


CHECKED = {
    "token_verifier": Verifier(),
    "auth": AuthSettings(issuer_url="https://issuer.example", resource_server_url=None),  # type: ignore[arg-type]
}


def report_app(*, stateless: bool, checked: bool = False, **settings: Any) -> Any:
    """Return an application whose tool returns many rows with the user's name."""
    server = MCPServer("rows", **(CHECKED if checked else {}))  # type: ignore[arg-type]

    @server.tool(structured_output=False)
    def report(ctx: Context) -> str:
        """Return rows."""
        owner = str(ctx.request_context.request.headers.get("authorization", "nobody"))
        return json.dumps({"items": [{"id": number, "owner": owner, "n": number * 7919} for number in range(900)]})

    wrapped = wrap_server(server, fetch=True, **settings)
    return wrapped.streamable_http_app(json_response=True, stateless_http=stateless)


@dataclass
class HttpClient:
    """One user's client of an MCP server over HTTP, in the era of `version`."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    version: str = "2025-11-25"
    address: str = "127.0.0.1"
    patience: float = PATIENCE

    def start(self) -> HttpClient:
        """Begin a session, if the server has sessions, else list the tools; return this client."""
        if self.version < "2026":
            params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
            answer = self.post("initialize", params)
            if session := answer.headers.get("mcp-session-id"):
                self.headers = {**self.headers, "mcp-session-id": session}
            body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            httpx.post(self.url, json=body, headers=self._headers("notifications/initialized", {}), timeout=PATIENCE)
        else:
            self.post("tools/list", {})
        return self

    def post(self, method: str, params: Json) -> httpx.Response:
        """Send a request; return the HTTP response."""
        if self.version >= "2026":
            version = {"io.modelcontextprotocol/protocolVersion": self.version}
            params = {**params, "_meta": {**version, CAPABILITIES: {}}}
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        with httpx.Client(transport=httpx.HTTPTransport(local_address=self.address), timeout=self.patience) as client:
            return client.post(self.url, json=body, headers=self._headers(method, params))

    def call(self, name: str, **arguments: Any) -> str:
        """Return the text of the result of a tool, or of the error."""
        response = self.post("tools/call", {"name": name, "arguments": arguments})
        if response.status_code != 200:
            return f"{response.status_code} {response.text}"
        answer = response.json()
        return str(answer["result"]["content"][0]["text"] if "result" in answer else answer["error"])

    def _headers(self, method: str, params: Json) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": self.version}
        if self.version >= "2026":
            headers["mcp-method"] = method
            headers |= {"mcp-name": params["name"]} if "name" in params else {}
        return {**headers, **self.headers}


ERAS = [("2025-11-25", True), ("2025-11-25", False), ("2026-07-28", True)]


@pytest.mark.parametrize(("version", "stateless"), ERAS)
def test_a_reference_belongs_to_the_credentials_and_without_any_there_is_none(version: str, stateless: bool) -> None:
    with serving(report_app(stateless=stateless), lifespan="on") as origin:
        alice, bob = (
            HttpClient(f"{origin}/mcp", {"authorization": f"Bearer {name}"}, version).start()
            for name in ("alice", "bob")
        )
        [ref] = set(re.findall(r"\$cold\.[0-9]{12}", alice.call("report")))
        query = "SELECT owner FROM items WHERE id = 3"
        assert "alice" in alice.call("accp_fetch", ref=ref, query=query)
        nobody = HttpClient(f"{origin}/mcp", {"x-forwarded-proto": "https"}, version).start()
        others = [bob, nobody, HttpClient(alice.url, {**alice.headers, **bob.headers}, version)]
        if session := alice.headers.get("mcp-session-id"):
            others += [HttpClient(alice.url, {"mcp-session-id": session, "authorization": "Bearer bob"}, version)]
        for other in others:
            assert "alice" not in other.call("accp_fetch", ref=ref, query=query)
            assert ref[6:] not in other.post("resources/list", {}).text
        assert ("cold." in nobody.call("report")) == (not stateless)


@pytest.mark.parametrize(("version", "stateless"), ERAS)
@pytest.mark.parametrize("restarts", [False, True])
def test_a_reference_belongs_to_the_subject_of_a_checked_token(
    version: str, stateless: bool, restarts: bool, tmp_path: Path
) -> None:
    store = SqliteColdStore(tmp_path / "texts") if restarts else None
    first, second = (report_app(stateless=stateless, checked=True, store=store) for _ in range(2))
    with serving(first, lifespan="on") as origin, serving(second, lifespan="on") as later:
        ann = HttpClient(f"{origin}/mcp", {"authorization": "Bearer ann-1"}, version).start()
        [ref] = set(re.findall(r"\$cold\.[0-9]{12}", ann.call("report")))
        for token, is_same in (("ann-2", True), ("bob-1", False)):
            fields = {"authorization": f"Bearer {token}"}
            renewed = HttpClient(ann.url, {**ann.headers, **fields}, version)
            other = HttpClient(f"{later}/mcp", fields, version).start() if restarts else renewed
            assert ("ann-1" in other.call("accp_fetch", ref=ref, query="items.3")) == is_same


@pytest.mark.parametrize(("version", "stateless"), [("2025-11-25", False), ("2026-07-28", True)])
def test_who_makes_up_fields_loses_its_own_texts_and_nobody_elses(
    version: str, stateless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accp_adapters.mcp.sdk._BYTES", 800_000)
    with serving(report_app(stateless=stateless), lifespan="on") as origin:
        ann = HttpClient(f"{origin}/mcp", {"authorization": "Bearer ann"}, version, "127.0.0.2")
        hogs = [HttpClient(ann.url, {"authorization": f"Bearer h{i}"}, version) for i in range(30)]
        refs = [re.findall(r"\$cold\.[0-9]{12}", each.start().call("report"))[0] for each in (ann, *hogs)]
        rows = [each.call("accp_fetch", ref=ref, query="items.3") for each, ref in zip((ann, *hogs), refs, strict=True)]
    assert "Bearer ann" in rows[0]
    assert "E5002" in rows[1]
    assert "Bearer h" in rows[-1]


async def test_a_client_of_the_sdk_gets_references_without_credentials() -> None:
    with serving(report_app(stateless=False), lifespan="on") as origin:
        async with Client(f"{origin}/mcp") as client:
            assert "cold." in str(await client.call_tool("report", {}))


@pytest.mark.parametrize("name", ["x-forwarded-for", "x-request-start", "x-amz-cf-id", "x-client-port", "cookie"])
@pytest.mark.parametrize("checked", [False, True])
def test_no_reference_is_closed_by_a_field_that_a_proxy_changes(name: str, *, checked: bool) -> None:
    with serving(report_app(stateless=False, checked=checked), lifespan="on") as origin:
        client = HttpClient(f"{origin}/mcp", {"authorization": "Bearer ann-1"} if checked else {}).start()
        calling, asking = (replace(client, headers={**client.headers, name: f"203.0.113.{n}"}) for n in (7, 8))
        [ref] = set(re.findall(r"\$cold\.[0-9]{12}", calling.call("report")))
        assert "owner" in asking.call("accp_fetch", ref=ref, query="items.3")


LONG_QUERY = "SELECT count(*) FROM items a, items b, items c WHERE a.n + b.n < c.n"


def test_a_query_ends_when_its_client_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, answer_own = list[Any](), Encoder.answer_own
    monkeypatch.setattr(Encoder, "answer_own", lambda *given: answers.append(own := answer_own(*given)) or own)
    with serving(report_app(stateless=False), lifespan="on") as origin:
        client = HttpClient(f"{origin}/mcp").start()
        [ref] = re.findall(r"\$cold\.[0-9]{12}", client.call("report"))
        leaving = replace(client, patience=0.1)
        for _ in range(4):
            with pytest.raises(httpx.TimeoutException):
                leaving.call("accp_fetch", ref=ref, query=LONG_QUERY)
        assert "nobody" in client.call("accp_fetch", ref=ref, query="items.3")
    assert "E2003" not in str(answers)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"])
def test_who_asks_many_long_queries_waits_for_them_and_nobody_else(address: str) -> None:
    query, many = LONG_QUERY, 50
    with serving(report_app(stateless=True), lifespan="on") as origin, ThreadPoolExecutor(many) as pool:
        hog, ann = (
            HttpClient(f"{origin}/mcp", {"authorization": f"Bearer {name}"}, address=address).start()
            for name, address in (("hog", "127.0.0.1"), ("ann", address))
        )
        [ref], [own] = (re.findall(r"\$cold\.[0-9]{12}", each.call("report")) for each in (hog, ann))
        asked = [pool.submit(hog.call, "accp_fetch", ref=ref, query=query) for _ in range(many)]
        wait(asked, return_when=FIRST_COMPLETED)
        assert "ann" in ann.call("accp_fetch", ref=own, query="items.3")
        assert sum(each.done() for each in asked) < 5
        assert "E2003" in asked[0].result()
        for each in asked:
            each.cancel()
