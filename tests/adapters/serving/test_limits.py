"""What a server lets in and how much of it: names of hosts, rates, and the memory that a text takes once it is read."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from accp_adapters.serving.limits import RateLimit, TooMany, weight_of
from accp_adapters.serving.principals import network_of
from accp_adapters.serving.requests import AllowedHosts, RequestRefused

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
    ("localhost@evil.example", "", 421),
    ("127.0.0.1#.evil.example", "", 421),
    ("127.0.0.1/.evil.example", "", 421),
    ("localhost", "http://evil@localhost", 403),
    ("[::1", "", 421),
    ("localhost", "null", 403),
    ("localhost", "http://127.0.0.1:80.evil.example", 403),
    ("localhost", "http://localhost.evil.example:80", 403),
]


def fields(host: str, origin: str) -> list[tuple[bytes, bytes]]:
    return [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])


def test_known_names_are_let_in() -> None:
    for host, origin in LET_IN:
        AllowedHosts.of(["proxy.example"]).check(fields(host, origin))


@pytest.mark.parametrize(("host", "origin", "status"), TURNED_AWAY)
def test_another_name_is_turned_away(host: str, origin: str, status: int) -> None:
    with pytest.raises(RequestRefused) as refused:
        AllowedHosts().check(fields(host, origin))
    assert refused.value.status == status


def test_the_addresses_of_one_network_are_one() -> None:
    assert network_of({"client": ("2001:db8::1", 1)}) == network_of({"client": ("2001:db8::2%eth0", 2)})
    assert network_of({"client": ("192.0.2.1", 1)}) != network_of({"client": ("192.0.2.2", 1)})
    assert network_of({"client": None}) == ""


def test_a_rate_is_a_burst_and_then_one_by_one() -> None:
    now = 100.0
    rate = RateLimit(10, 20, clock=lambda: now)
    assert [rate.take("ann") for _ in range(20)] == [0] * 20
    assert rate.take("ann") == pytest.approx(0.1)
    assert rate.take("bob") == 0
    with pytest.raises(TooMany, match="E2003") as refused:
        rate.check("ann")
    assert refused.value.is_own and refused.value.retry_after == pytest.approx(0.1)
    now = 100.125
    assert rate.take("ann") == 0 < rate.take("ann")


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[]," * 50_000 + "1]",
        "[" + "{}," * 50_000 + "1]",
        '{"a":[' + '{"k":1},' * 20_000 + "1]}",
        "[" + ",".join(map(str, range(1_000, 60_000))) + "]",
        '"' + "x" * 100_000 + '\\ud83e\\udd8a"',
        '"' + "x" * 100_000 + '🦊"',
        "[" + '"ab",' * 50_000 + "1]",
    ],
)
def test_no_text_takes_more_than_its_weight(text: str) -> None:
    tracemalloc.start()
    value = json.loads(text)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert value is not None
    assert taken < weight_of(text)
