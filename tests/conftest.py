"""Properties are judged by what they find and not by the clock of a busy machine.

Where `CI` is set they try the same examples each time, so that a change is judged by what it changed; elsewhere they
go on looking.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests import servers

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("no clock"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "no clock")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of a PostgreSQL server that this session of tests has for itself; skips where there is none."""
    try:
        with servers.postgres() as address:
            yield address
    except servers.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a plain Redis server that this session of tests has for itself; skips where there is none."""
    try:
        with servers.redis_server() as address:
            yield address
    except servers.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def search_redis_url() -> Iterator[str]:
    """The address of a Redis server with the search module, which LangGraph's own store needs; skips without one."""
    try:
        with servers.redis_with_search() as address:
            yield address
    except servers.Missing as missing:
        pytest.skip(str(missing))
