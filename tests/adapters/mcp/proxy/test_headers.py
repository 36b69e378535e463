"""Which headers are passed on, and which requests are let in."""

from __future__ import annotations

import pytest

from accp_adapters.mcp.proxy.headers import AllowedHosts, client_headers, server_headers


def test_what_concerns_one_connection_is_not_passed_on() -> None:
    headers = [
        (b"host", b"localhost:1"),
        (b"connection", b"keep-alive, X-Mine"),
        (b"x-mine", b"1"),
        (b"transfer-encoding", b"chunked"),
        (b"accept-encoding", b"gzip"),
        (b"authorization", b"Bearer t"),
        (b"mcp-session-id", b"s"),
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
    ]
    assert server_headers(headers) == [
        (b"authorization", b"Bearer t"),
        (b"mcp-session-id", b"s"),
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
        (b"accept-encoding", b"identity"),
    ]


def test_a_field_of_ours_takes_the_place_of_the_clients() -> None:
    headers = server_headers([(b"authorization", b"theirs")], [(b"authorization", b"ours")])
    assert headers == [(b"authorization", b"ours"), (b"accept-encoding", b"identity")]


def test_the_length_is_left_out_only_where_it_may_change() -> None:
    headers = [(b"content-length", b"2"), (b"keep-alive", b"5"), (b"www-authenticate", b"Bearer")]
    assert client_headers(headers) == [(b"content-length", b"2"), (b"www-authenticate", b"Bearer")]
    assert client_headers(headers, keep_length=False) == [(b"www-authenticate", b"Bearer")]


LET_IN = [
    ("localhost:8931", ""),
    ("127.0.0.1", "http://localhost:3000"),
    ("[::1]:8931", "https://127.0.0.1"),
    ("LOCALHOST:1", "http://[::1]:2"),
    ("proxy.example:8931", "https://proxy.example"),
]
TURNED_AWAY = [
    ("evil.example:8931", "", 421),
    ("", "", 421),
    ("localhost.evil.example", "", 421),
    ("localhost@evil.example", "", 421),
    ("[::1", "", 421),
    ("localhost", "http://evil.example", 403),
    ("localhost", "null", 403),
    ("localhost", "http://localhost.evil.example:80", 403),
]


@pytest.mark.parametrize(("host", "origin"), LET_IN)
def test_a_known_name_is_let_in(host: str, origin: str) -> None:
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    assert AllowedHosts.of(["proxy.example"]).refusal(headers) is None


@pytest.mark.parametrize(("host", "origin", "status"), TURNED_AWAY)
def test_another_name_is_turned_away(host: str, origin: str, status: int) -> None:
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    refusal = AllowedHosts().refusal(headers)
    assert refusal is not None
    assert refusal[0] == status
