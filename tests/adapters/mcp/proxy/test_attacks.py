"""Attacks on `accp mcp --listen`: a proxy process in front of a server of the SDK with several users."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.adapters.mcp.proxy.tenants import Client, proxy_process, rows_server
from tests.adapters.mcp.proxy.upstream import Upstream
from tests.adapters.mcp.serving import serving
from tests.limits import PATIENCE

FETCHING = ("--policy", "always", "--fetch")
A, B = {"authorization": "Bearer alice"}, {"authorization": "Bearer bob"}


def reference_in(text: str) -> str:
    found = re.search(r"\$cold\.[0-9]{12}", text)
    assert found is not None, text[:300]
    return found[0]


def said(url: str, request: bytes) -> bytes:
    """Return the bytes with which the proxy answers raw bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=PATIENCE) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.fixture(scope="module")
def secret_server() -> Iterator[tuple[Upstream, str]]:
    upstream = Upstream()
    with serving(upstream) as origin:
        yield upstream, origin


@pytest.fixture(scope="module")
def sessions() -> Iterator[str]:
    """Yield the URL of a proxy in front of a server with sessions, which does not bind them to their users."""
    yield from proxied(rows_server("alice", "bob"), *FETCHING, "--max-body", "10000", "--request-timeout", "0.5")


@pytest.fixture(scope="module")
def stateless() -> Iterator[str]:
    """Yield the URL of a proxy in front of a server that gives no session ids."""
    yield from proxied(rows_server("alice", "bob", stateless=True), *FETCHING)


@pytest.fixture(scope="module")
def public() -> Iterator[str]:
    """Yield the URL of a proxy in front of a server that knows neither sessions nor users."""
    yield from proxied(rows_server(stateless=True), *FETCHING)


def proxied(server: object, *options: str) -> Iterator[str]:
    with serving(server, lifespan="on") as origin, proxy_process(f"{origin}/mcp", *options) as (url, _):
        yield url


@pytest.mark.parametrize(
    "target", ["@HOST/steal", "http://HOST/steal", "//HOST/steal", "/mcp/../x", "/.well-known/%2e%2e/x"]
)
def test_no_request_target_leads_anywhere_but_to_the_endpoint(
    sessions: str, secret_server: tuple[Upstream, str], target: str
) -> None:
    upstream, origin = secret_server
    line = f"POST {target.replace('HOST', origin.removeprefix('http://'))} HTTP/1.1\r\n"
    answer = said(sessions, f"{line}Host: localhost\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400")
    assert upstream.requests == []


@pytest.mark.parametrize(
    "field", ["Host: localhost", "Origin: http://evil.example", "Mcp-Session-Id: 2", "Authorization: Bearer bob"]
)
def test_a_second_field_of_a_kind_is_refused(sessions: str, field: str) -> None:
    fields = ["Host: localhost", "Origin: http://localhost", "Mcp-Session-Id: 1", "Authorization: Bearer alice", field]
    answer = said(sessions, "\r\n".join(["GET /mcp HTTP/1.1", *fields, "Connection: close", "\r\n"]).encode())
    assert answer.startswith(b"HTTP/1.1 400")


def test_who_sends_an_incomplete_header_or_body_is_not_waited_for(sessions: str) -> None:
    assert said(sessions, b"POST /mcp HTTP/1.1\r\nHost: loc").startswith(b"HTTP/1.1 408")
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
    assert said(sessions, head).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("framing", [b"Content-Length: 20000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n4e20\r\n"])
def test_a_large_body_is_refused_before_the_server_is_asked(sessions: str, framing: bytes) -> None:
    answer = said(sessions, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + framing + b" " * 10001)
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_reference_opens_for_its_session_and_its_user_only(sessions: str) -> None:
    alice, bob = Client(sessions, A).start(), Client(sessions, B).start()
    reference = reference_in(alice.call("report"))
    assert alice.call("accp_fetch", ref=reference, query="SELECT owner, note FROM items WHERE id = 3").count("alice")
    uri = reference.replace("$cold.", "accp://cold/")
    assert [each["uri"][: len(uri)] for each in alice.ask("resources/list")["result"]["resources"]] == [uri]
    session = {"mcp-session-id": alice.headers["mcp-session-id"]}
    for headers, code in (
        (bob.headers, "E5002"),
        ({**session, **B}, "E5002"),
        (session, "401"),
        ({**session, "authorization": "Bearer eve"}, "401"),
        ({**session, **A, "x-tenant": "other"}, "E5002"),
    ):
        other = Client(sessions, headers)
        assert code in other.call("accp_fetch", ref=reference, query="SELECT note FROM items")
        read = other.post("resources/read", {"uri": uri})
        assert (code if code != "401" else "who are you?") in read.text
        assert reference[6:] not in other.post("resources/list", {}).text
    assert "private" in alice.call("accp_fetch", ref=reference, query="SELECT note FROM items")


def test_the_servers_own_refusal_is_what_the_client_gets(sessions: str) -> None:
    answer = Client(sessions).post("resources/read", {"uri": "accp://registry"})
    assert (answer.status_code, answer.headers["www-authenticate"], answer.text) == (401, "Bearer", "who are you?")


def test_a_session_that_ended_opens_nothing(sessions: str) -> None:
    alice = Client(sessions, A).start()
    reference = reference_in(alice.call("report"))
    assert httpx.delete(sessions, headers=alice.headers, timeout=PATIENCE).status_code == 200
    assert alice.call("accp_fetch", ref=reference).startswith("404")


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_without_session_ids_a_reference_belongs_to_the_credentials(stateless: str, version: str) -> None:
    alice, bob = Client(stateless, A, version).start(), Client(stateless, B, version).start()
    reference = reference_in(alice.call("report"))
    assert "alice" in alice.call("accp_fetch", ref=reference, query="SELECT owner FROM items WHERE id = 3")
    assert "E5002" in bob.call("accp_fetch", ref=reference)
    assert "401" in Client(stateless, {}, version).call("accp_fetch", ref=reference)
    assert "cold" not in bob.post("resources/list", {}).text
    assert "E5002" in Client(stateless, {"x-api-key": "alice"}, version).call("accp_fetch", ref=reference)


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_where_nobody_can_be_told_apart_there_are_no_previews(public: str, version: str) -> None:
    client = Client(public, version=version).start()
    shown = client.call("report")
    assert str(899 * 899 * 7919) in shown
    assert "cold." not in shown
    assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == ["report"]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_headers_that_name_another_tool_do_not_pass_a_barred_one(version: str) -> None:
    for url in proxied(rows_server(stateless=True), "--exclude", "rep*"):
        for headers in ({"mcp-name": "other"}, {"mcp-method": "ping"}, {"mcp-param-region": "x"}):
            assert "E4001" in Client(url, headers, version).call("report")


@pytest.mark.slow
def test_a_token_of_the_proxy_tells_users_apart_and_stays_with_it(secret_server: tuple[Upstream, str]) -> None:
    tokens = {"TOKENS": "ann:token-of-ann ben:token-of-ben", "KEY": "Bearer alice"}
    options = ["--token-env", "TOKENS", "--header-env", "Authorization=KEY", *FETCHING]
    with ExitStack() as stack:
        origin = stack.enter_context(serving(rows_server("alice", stateless=True), lifespan="on"))
        url, _ = stack.enter_context(proxy_process(f"{origin}/mcp", *options, **tokens))
        ann, ben = (Client(url, {"authorization": f"Bearer token-of-{name}"}).start() for name in ("ann", "ben"))
        reference = reference_in(ann.call("report"))
        assert "alice" in ann.call("accp_fetch", ref=reference, query="SELECT owner FROM items WHERE id = 3")
        assert "E5002" in ben.call("accp_fetch", ref=reference)
        assert Client(url).call("report").startswith("401")
    upstream, origin = secret_server
    with proxy_process(f"{origin}/mcp", "--token-env", "TOKENS", **tokens) as (url, _):
        for place in (url, f"{url[: -len('mcp')]}.well-known/x"):
            assert httpx.get(place, timeout=PATIENCE).status_code == 401
            assert httpx.get(place, headers={"authorization": "Bearer token-of-ann"}, timeout=PATIENCE).is_success
    sent = [headers for _, _, headers, _ in upstream.requests]
    upstream.requests.clear()
    assert [headers.get("authorization") for headers in sent] == [None, None]


def test_secrets_are_sent_and_shown_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "fields"
    file.write_text("X-Api-Key: hidden\n", encoding="utf-8")
    options = ["--header-env", "X-Token=TOKEN", "--header-file", str(file)]
    upstream = Upstream()
    with ExitStack() as stack:
        origin = stack.enter_context(serving(upstream))
        url = origin.replace("http://", "http://user:hidden@") + "/mcp?key=hidden"
        with proxy_process(url, *options, TOKEN="hidden") as (at, shown):
            assert httpx.post(f"{at}?more=1", content=b"{}", timeout=PATIENCE).status_code == 200
            assert httpx.get(f"{at[: -len('mcp')]}.well-known/x", timeout=PATIENCE).status_code == 200
            stack.close()
            failed = httpx.post(at, json={"jsonrpc": "2.0", "id": 1, "method": "x"}, timeout=PATIENCE)
    assert failed.status_code == 502
    assert f"the server at {origin}/mcp cannot be reached: " in failed.text
    assert "hidden" not in shown + failed.text
    (_, path, headers, _), (_, document, bare, _) = upstream.requests
    assert (path, document) == ("/mcp?key=hidden&more=1", "/.well-known/x")
    sent = ("Basic dXNlcjpoaWRkZW4=", "hidden", "hidden")
    assert (headers["authorization"], headers["x-token"], headers["x-api-key"]) == sent
    assert not {"authorization", "x-token", "x-api-key"} & set(bare)
