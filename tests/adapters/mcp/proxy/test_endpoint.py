"""The address of a server: what of it a request can reach, and what of it is shown."""

from __future__ import annotations

import httpx2
import pytest

from accp_adapters.mcp.proxy.endpoint import ServerUrl

ENDPOINT = ServerUrl.parse("https://us%40er:p:w@host.example:8443/a%20b/mcp?key=1%2B2&x#part")


def test_what_may_be_secret_is_sent_and_not_shown() -> None:
    assert ENDPOINT.shown == "https://host.example:8443/a%20b/mcp"
    assert str(ENDPOINT.url) == "https://host.example:8443/a%20b/mcp?key=1%2B2&x"
    assert ENDPOINT.credentials == ((b"authorization", b"Basic dXNAZXI6cDp3"),)
    assert ServerUrl.parse("http://host").credentials == ()


@pytest.mark.parametrize(
    "url", ["", "host/mcp", "ftp://h/secret", "http://", "http://h:secret", "file:///secret", "http://h:99999"]
)
def test_a_url_that_is_none_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="expected ") as refused:
        ServerUrl.parse(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "query", "target"),
    [
        (b"/a%20b/mcp", b"", "/a%20b/mcp?key=1%2B2&x"),
        (b"/a%20b/mcp/", b"q=%20b", "/a%20b/mcp?key=1%2B2&x&q=%20b"),
        (b"/.well-known/oauth-protected-resource", b"", "/.well-known/oauth-protected-resource"),
        (b"/.well-known/a.b/c", b"q=1", "/.well-known/a.b/c?q=1"),
    ],
)
def test_the_endpoint_and_well_known_documents_are_served(path: bytes, query: bytes, target: str) -> None:
    url = ENDPOINT.resolve(path, query)
    assert url is not None
    assert (url.scheme, url.host, url.port, url.raw_path.decode()) == ("https", "host.example", 8443, target)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        *((path, b"") for path in (b"", b"/", b"*", b"a%20b/mcp", b"@evil/x", b"//evil/a%20b/mcp", b"/a b/mcp", b"/x")),
        *((path, b"") for path in (b"/.well-known", b"/.well-known/", b"/.well-known/../x", b"/.well-known/a/./b")),
        *((path, b"") for path in (b"/.well-known//x", b"/.well-known/%2e%2e/x", b"/.well-known/a\\..\\b")),
        (b"/a%20b/mcp", b"a#b"),
        (b"/a%20b/mcp", b"a\xffb"),
    ],
)
def test_nothing_else_is_served(path: bytes, query: bytes) -> None:
    assert ENDPOINT.resolve(path, query) is None


def test_the_root_may_be_the_endpoint() -> None:
    endpoint = ServerUrl.parse("http://host")
    assert str(endpoint.resolve(b"/", b"")) == "http://host"
    assert endpoint.resolve(b"", b"") is None


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [
        (307, "/a%20b/mcp/", "https://host.example:8443/a%20b/mcp/"),
        (308, "https://user:pw@host.example:8443/other#x", "https://host.example:8443/other"),
        (301, "/a%20b/mcp/", None),
        (307, "http://host.example:8443/mcp", None),
        (307, "https://host.example/mcp", None),
        (307, "https://evil.example:8443/mcp", None),
        (307, "https://[", None),
        (307, "", None),
    ],
)
def test_a_redirect_is_followed_to_the_same_origin_only(status: int, location: str, target: str | None) -> None:
    request = httpx2.Request("POST", ENDPOINT.url)
    followed = ENDPOINT.follow(httpx2.Response(status, headers={"location": location}, request=request))
    assert (followed and str(followed)) == target


def test_only_a_slash_at_the_end_is_remembered() -> None:
    moved = ENDPOINT.moved(httpx2.URL("https://host.example:8443/a%20b/mcp/"))
    assert str(moved.url) == "https://host.example:8443/a%20b/mcp/?key=1%2B2&x"
    assert moved.moved(httpx2.URL("https://host.example:8443/other")) is moved


@pytest.mark.parametrize(
    ("location", "local"),
    [
        (b"https://host.example:8443/x?y", b"/x?y"),
        (b"https://host.example:84430/x", b"https://host.example:84430/x"),
        (b"https://other.example/x", b"https://other.example/x"),
        (b"/x", b"/x"),
    ],
)
def test_a_location_within_the_server_becomes_a_path(location: bytes, local: bytes) -> None:
    assert ENDPOINT.local_location(location) == local
