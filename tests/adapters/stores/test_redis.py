"""The cold store in a plain Redis server, started for these tests."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from accp_adapters import stores
from accp_adapters.stores import RedisColdStore
from accp_core.errors import ProtocolError
from tests import servers
from tests.limits import wait_until


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_url) as opened:
        opened.flushall()
        yield opened


@pytest.fixture
def store(redis_url: str, client: redis.Redis) -> Iterator[RedisColdStore]:
    opened = RedisColdStore(redis_url)
    yield opened
    opened.close()


def test_a_session_is_one_hash_that_never_expires(store: RedisColdStore, client: redis.Redis) -> None:
    store.put("user@example.com", "cold.1", "rows")
    store.put("user@example.com", "cold.2", "rows")
    assert client.keys() == [b"accp:user@example.com"]
    assert client.hlen("accp:user@example.com") == 2
    assert client.ttl("accp:user@example.com") == -1


def test_a_session_expires_as_a_whole_after_its_last_put(redis_url: str, client: redis.Redis) -> None:
    store = RedisColdStore(redis_url, ttl=2.5)
    store.put("s", "cold.1", "rows")
    assert 149_000 < int(client.pttl("accp:s")) <= 150_000
    client.pexpire("accp:s", 60_000)
    store.put("s", "cold.2", "rows")
    assert int(client.pttl("accp:s")) > 149_000
    store.save_session("s", 1, "data")  # the texts of a session live as long as it does
    assert int(client.pttl("accp:s")) == pytest.approx(604_800_000, abs=60_000)
    client.pexpire("accp:s", 0)
    assert store.get("s", "cold.1") is None
    store.close()


@pytest.mark.parametrize("ttl", [0, -1.0, float("nan")])
def test_a_time_to_live_is_above_zero(ttl: float) -> None:
    with pytest.raises(ValueError, match=f"expected ttl above 0 or None, found {ttl!r}"):
        RedisColdStore(ttl=ttl)


def test_namespaces_keep_applications_apart(redis_url: str, store: RedisColdStore) -> None:
    other = RedisColdStore(redis_url, namespace="accp:s")
    store.put("s:t", "cold.1", "mine")
    other.put("t", "cold.1", "theirs")
    assert (store.get("s:t", "cold.1"), other.get("t", "cold.1")) == ("mine", "theirs")
    assert other.purge("t") == 1
    assert store.get("s:t", "cold.1") == "mine"
    other.close()


def test_a_text_of_many_rows_takes_less_than_its_size(store: RedisColdStore, client: redis.Redis) -> None:
    store.put("s", "cold.1", "the same row\n" * 100_000)
    assert int(client.memory_usage("accp:s") or 0) < 20_000


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    store = RedisColdStore(f"redis://user:secret@127.0.0.1:{servers.free_port()}/3")
    for call in (lambda: store.put("s", "k", "t"), lambda: store.get("s", "k"), lambda: store.purge("s")):
        with pytest.raises(ProtocolError, match=r"^E3001: expected 'redis://127.0.0.1:\d+/3' to ") as refusal:
            call()
        assert "secret" not in str(refusal.value)
    store.close()


def test_a_server_that_does_not_let_us_in_is_E5001() -> None:
    try:
        with servers.redis_server("--requirepass", "secret") as url:
            store = RedisColdStore(url.replace("//", "//:wrong@"))
            with pytest.raises(ProtocolError, match=r"^E5001: .* to put, found: "):
                store.put("s", "cold.1", "rows")
            store.close()
    except servers.Missing as missing:
        pytest.skip(str(missing))


def test_a_full_server_refuses_and_keeps_what_it_has(store: RedisColdStore, client: redis.Redis) -> None:
    store.put("s", "cold.1", "rows")
    client.config_set("maxmemory", "1")
    try:
        with pytest.raises(ProtocolError, match=r"^E9999: .* to put, found: .*maxmemory"):
            store.put("s", "cold.2", "rows")
    finally:
        client.config_set("maxmemory", "0")
    assert store.get("s", "cold.1") == "rows"


def test_what_others_wrote_there_is_no_text(store: RedisColdStore, client: redis.Redis) -> None:
    client.hset("accp:s", "cold.1", "plain")
    with pytest.raises(ProtocolError, match=r"^E2001: expected a stored text, found .*b'plain'"):
        store.get("s", "cold.1")
    client.set("accp:t", "no hash")
    with pytest.raises(ProtocolError, match=r"^E9999: .* to get, found: .*wrong kind"):
        store.get("t", "cold.1")


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="scheme"):
        RedisColdStore("http://localhost")


def test_it_speaks_tls(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "ca.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    make += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(make, check=True, capture_output=True)
        with servers.redis_server(tls=(key, certificate)) as url:
            store = RedisColdStore(f"{url}?ssl_ca_certs={certificate}")
            store.put("s", "cold.1", "rows")
            assert store.get("s", "cold.1") == "rows"
            store.close()
            stranger = RedisColdStore(url)
            with pytest.raises(ProtocolError, match=r"^E3001: .*certificate"):
                stranger.get("s", "cold.1")
            stranger.close()
    except (servers.Missing, FileNotFoundError) as missing:
        pytest.skip(str(missing))


def test_it_is_reached_by_a_unix_socket_too(tmp_path: Path) -> None:
    place = tmp_path / "redis.sock"
    try:
        with servers.redis_server("--unixsocket", place), socket.socket(socket.AF_UNIX) as probe:
            # It listens at its port first.
            wait_until(lambda: probe.connect_ex(str(place)) == 0)
            store = RedisColdStore(f"unix://{place}?db=2")
            store.put("s", "cold.1", "rows")
            assert store.get("s", "cold.1") == "rows"
            store.close()
    except servers.Missing as missing:
        pytest.skip(str(missing))


def test_the_module_offers_nothing_else_late() -> None:
    assert stores.RedisColdStore is RedisColdStore
    with pytest.raises(AttributeError, match="has no attribute 'Memcached'"):
        stores.Memcached  # noqa: B018  reading it is the test
