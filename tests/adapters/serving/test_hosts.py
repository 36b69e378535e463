"""Which requests are let in."""

from __future__ import annotations

import pytest

from accp_adapters.serving.hosts import AllowedHosts

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
    ("evil@127.0.0.1", "", 421),
    ("127.0.0.1#.evil.example", "", 421),
    ("127.0.0.1/.evil.example", "", 421),
    ("localhost", "http://evil@localhost", 403),
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
