"""The servers that tests start: they answer, and they end with the tests, however those end."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from tests import servers
from tests.limits import PATIENCE

ROOT = Path(__file__).parents[1]
PROGRAM = """
import sys
from tests import servers

with servers.redis_server() as address:
    print(address, flush=True)
    sys.stdin.read()
"""


def test_they_answer(postgres_url: str, redis_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_when_its_tests_are_killed(end: signal.Signals, redis_url: str) -> None:
    program = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout
        address = urlsplit(tests.stdout.readline().strip())
        with socket.create_connection((str(address.hostname), int(address.port or 0)), PATIENCE) as connection:
            tests.send_signal(end)
            assert connection.recv(1) == b""  # the server is gone: it closed its end


def test_a_server_that_does_not_start_says_why(redis_url: str) -> None:
    with pytest.raises(servers.Missing, match="no-such-option"), servers.redis_server("--no-such-option", "1"):
        raise AssertionError("it started")


def test_a_binary_that_is_not_there_is_named() -> None:
    with pytest.raises(servers.Missing, match="no redis-serber here"), servers.redis_server(binary="redis-serber"):
        raise AssertionError("it started")
