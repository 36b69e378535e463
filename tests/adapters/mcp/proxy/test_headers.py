"""Which headers are passed on, and which requests are let in."""

from __future__ import annotations

from accp_adapters.mcp.proxy.endpoint_client import client_headers, server_headers


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
