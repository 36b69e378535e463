"""Which tests `make test` runs, settings of the property tests, and servers that tests share.

Properties have no time limit. Where `CI` is set they try the same examples in every run, so that a failure comes from
the change; elsewhere each run tries new ones.
"""

import contextlib
import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, Phase, settings

import accp_adapters
import accp_core
from tests import servers

settings.register_profile(
    "house",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=int(os.environ.get("ACCP_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.too_slow],
)
# A change of the code that a test notices need not be shown by the smallest example.
settings.register_profile(
    "mutants", settings.get_profile("house"), derandomize=True, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("mutants" if os.environ.get("ACCP_MUTANTS") else "house")

FOLDER = Path(__file__).parent
SLOW = (
    "adapters/langgraph/composition",
    "adapters/mcp/real_servers",
    "adapters/mcp/test_sdk2.py",
    "adapters/replay/test_what_is_sent.py",
    "attacks",
    "compiled",
    "foreign",
    "harness",
    "integrations",
    "typing",
)
"""Processes, peers and programs: `make test` leaves them to `make test-all`, as it does tests marked `slow`."""

RUN_UNTRACED = (
    "adapters/langgraph/composition",
    "adapters/mcp/real_servers",
    "integrations",
    "properties",
    "test_examples.py",
)
"""Tests that repeat with much data, or beside others' programs, what the tests beside each module show."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are processors: many tests wait for processes that they start."""
    return (os.cpu_count() or 1) + 1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import nothing of what `-m 'not slow'` would leave out."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None


def is_slow(path: Path) -> bool:
    return any(path.is_relative_to(FOLDER / name) for name in SLOW)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and trace nothing of `RUN_UNTRACED`: that takes more time than the tests."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
        if any(item.path.is_relative_to(FOLDER / name) for name in RUN_UNTRACED):
            item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Trace the import of our modules and no more; keep the garbage collector from what stays until the end."""
    measured = Coverage.current()
    if measured:
        import_all()
        measured.stop()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        if measured:
            measured.start()


def import_all() -> None:
    """Import all our modules whose requirements are here."""
    for package in (accp_core, accp_adapters):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the counts of proxies that tests start out of the user's folder."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ACCP_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def _streams_go_on() -> None:
    """Let streams go on after the end of another server: sse-starlette before 3.7 ends all of the process with it."""
    sse = sys.modules.get("sse_starlette.sse")
    if sse:
        sse.AppStatus.should_exit = False


def address_of(server: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """Yield the address of a new server; skip where it is missing."""
    try:
        with server() as address:
            yield address
    except servers.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Yield the address of a PostgreSQL server that only this process uses; skip where there is none."""
    yield from address_of(servers.postgres)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Yield the address of a plain Redis server that only this process uses; skip where there is none."""
    yield from address_of(servers.redis_server)


@pytest.fixture(scope="session")
def search_redis_url() -> Iterator[str]:
    """Yield the address of a Redis server with the search module, which LangGraph's store needs; skip without one."""
    yield from address_of(servers.redis_with_search)
