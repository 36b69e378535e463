"""The registry in SQLite: threads, processes, a kill, a bound."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from accp_adapters.stores import SqliteInstructionRegistry
from accp_core.aacp import EncodingTier, FallbackEncoder, InstructionStore, RegistryEntry
from tests.limits import PATIENCE, wait_until

ROOT = Path(__file__).parents[3]
PACKET = "FETCH|HR|return:A|p:2|aacp:1.1|res:absence"


def entry(pattern: str, seen: int = 1) -> RegistryEntry:
    return RegistryEntry(pattern=pattern, key=f"key of {pattern}", packet=PACKET, source="test", times_seen=seen)


@pytest.fixture(params=["memory", "file"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteInstructionRegistry]:
    path = ":memory:" if request.param == "memory" else tmp_path / "new" / "known.sqlite"
    with SqliteInstructionRegistry(path) as opened:
        yield opened


def unexpected() -> RegistryEntry:
    raise AssertionError("the entry was known")


def test_an_entry_is_made_once_and_counted(registry: InstructionStore) -> None:
    assert registry.get_or_create("a", lambda: entry("a")) == entry("a")
    assert registry.get_or_create("a", unexpected) == entry("a", seen=2)


def test_what_making_raises_is_raised_and_not_kept(registry: SqliteInstructionRegistry) -> None:
    with pytest.raises(ZeroDivisionError):
        registry.get_or_create("a", lambda: entry(str(1 / 0)))
    assert len(registry) == 0
    assert registry.get_or_create("a", lambda: entry("a")).times_seen == 1


def test_entries_are_added_listed_and_forgotten(registry: SqliteInstructionRegistry) -> None:
    assert registry.add([entry("a", 3), entry("b"), entry("c", 9), entry("a", 5)]) == 3
    assert registry.add([entry("a"), entry("d")]) == 1
    assert [each.pattern for each in registry.entries()] == ["c", "a", "b", "d"]
    assert [each.times_seen for each in registry.entries(2)] == [9, 3]
    assert [registry.forget("a"), registry.forget("a")] == [True, False]
    assert len(registry) == 3


def test_of_several_entries_that_are_added_all_or_none_are_kept(registry: SqliteInstructionRegistry) -> None:
    def broken() -> Iterator[RegistryEntry]:
        yield entry("a")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        registry.add(broken())
    assert len(registry) == 0


def test_the_least_asked_for_goes_first_of_those_the_oldest(tmp_path: Path) -> None:
    with SqliteInstructionRegistry(tmp_path / "known.sqlite", max_entries=2) as registry:
        registry.add([entry("a", 2), entry("b")])
        assert registry.get_or_create("c", lambda: entry("c")) == entry("c")
        assert [each.pattern for each in registry.entries()] == ["a", "c"]


@pytest.mark.requirement("aacp:15-8")
def test_a_file_is_for_its_owner_only_and_outlives_the_registry(tmp_path: Path) -> None:
    path = tmp_path / "new" / "known.sqlite"
    with SqliteInstructionRegistry(path) as registry:
        registry.add([entry("a")])
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with SqliteInstructionRegistry(str(path)) as again:
        assert again.entries() == [entry("a")]
    again.close()


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "unknown_patterns.json"
    path.write_text("[]" * 1_000, encoding="utf-8")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        SqliteInstructionRegistry(path)
    assert path.read_text(encoding="utf-8") == "[]" * 1_000


def wait_for(asking: threading.Semaphore, threads: int) -> None:
    for _ in range(threads):
        assert asking.acquire(timeout=PATIENCE)


def test_different_wordings_do_not_wait_for_each_other(registry: SqliteInstructionRegistry) -> None:
    together = threading.Barrier(4, timeout=PATIENCE)

    def make(pattern: str) -> RegistryEntry:
        together.wait()
        return entry(pattern)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda pattern: registry.get_or_create(pattern, lambda: make(pattern)), "abcd"))
    assert [each.pattern for each in made] == list("abcd")


def test_when_the_first_fails_the_next_one_makes_the_entry(registry: SqliteInstructionRegistry) -> None:
    tries: list[int] = []
    asking = threading.Semaphore(0)

    def make() -> RegistryEntry:
        tries.append(1)
        if len(tries) == 1:
            wait_for(asking, 5)
            raise ConnectionError
        return entry("a")

    def ask(_: int) -> int:
        asking.release()
        try:
            return registry.get_or_create("a", make).times_seen
        except ConnectionError:
            return 0

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(ask, range(5))) == [0, 1, 2, 3, 4]
    assert len(tries) == 2


ASK = """
import os, sys, threading
from accp_adapters.stores import SqliteInstructionRegistry
from accp_core.aacp import FallbackEncoder
from tests.limits import wait_until

path, calls, asking = sys.argv[1:]

def model(instruction, /, *, domain, return_agent, priority="2"):
    with open(calls, "a") as file:
        file.write("call\\n")
    wait_until(lambda: os.path.getsize(asking) == 160)
    return "FETCH|HR|res:absence"

def ask(number):
    polite = "Please " if number % 2 else ""
    with open(asking, "a") as file:
        file.write(".")
    found = encoder.encode(polite + "fetch the absence records", domain="HR", return_agent=f"A{number}")
    results.append(f"{found.tier.value} {found.packet}")

results = []
with SqliteInstructionRegistry(path) as registry:
    encoder = FallbackEncoder(registry, model)
    print("ready", flush=True)
    sys.stdin.readline()
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
print("\\n".join(results))
"""


@pytest.mark.requirement("aacp:6.3-4")
def test_forty_threads_in_each_of_four_processes_make_one_call_of_the_model(tmp_path: Path) -> None:
    path, calls, asking = tmp_path / "known.sqlite", tmp_path / "calls", tmp_path / "asking"
    command = [sys.executable, "-W", "error", "-c", ASK, str(path), str(calls), str(asking)]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [error for _, error in answers] == [""] * 4
    results = [line for out, _ in answers for line in out.splitlines()]
    assert len(results) == 160
    assert calls.read_text(encoding="utf-8") == "call\n"
    assert [line.split()[0] for line in results].count("model") == 1
    with SqliteInstructionRegistry(path) as registry:
        assert [each.times_seen for each in registry.entries()] == [160]


CRASH = """
import sys
from accp_adapters.stores import SqliteInstructionRegistry
from accp_core.aacp import RegistryEntry

with SqliteInstructionRegistry(sys.argv[1]) as registry:
    for number in range(100_000):
        pattern = f"p{number}"
        new = RegistryEntry(pattern=pattern, key=pattern, packet="ACK|HR|return:A|aacp:1.1", source="crash")
        registry.get_or_create(pattern, lambda: new)
        registry.get_or_create("p0", lambda: new)
        print(pattern, flush=True)
"""


def test_a_kill_while_writing_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "known.sqlite"
    writer = subprocess.Popen([sys.executable, "-c", CRASH, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    acknowledged = [writer.stdout.readline().strip() for _ in range(50)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += writer.stdout.read().split()
    writer.wait()
    writer.stdout.close()
    with SqliteInstructionRegistry(path) as registry:
        kept = {each.pattern: each.times_seen for each in registry.entries()}
        assert [pattern for pattern in acknowledged if pattern not in kept] == []
        assert len(kept) <= len(acknowledged) + 1
        assert kept["p0"] - len(acknowledged) in (1, 2)
        assert registry.get_or_create("after", lambda: entry("after")).times_seen == 1


HOLD = """
import sys
from accp_adapters.stores import SqliteInstructionRegistry

def make():
    print("making", flush=True)
    sys.stdin.read()

SqliteInstructionRegistry(sys.argv[1], lease=float(sys.argv[2])).get_or_create("a", make)
"""


def holder(path: Path, lease: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(path), str(lease)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "making\n"
    return process


def stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()


def test_the_claim_of_a_killed_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "known.sqlite"
    stop(holder(path, lease=1.0))
    with SqliteInstructionRegistry(path) as registry:
        assert registry.get_or_create("a", lambda: entry("a")) == entry("a")


def test_the_claim_of_a_slow_model_is_prolonged(tmp_path: Path) -> None:
    path = tmp_path / "known.sqlite"
    process = holder(path, lease=0.3)
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE)) as database:
            ends: set[float] = set()
            wait_until(lambda: ends.update(*database.execute("SELECT until FROM claims")) or len(ends) == 3)
    finally:
        stop(process)


def test_a_thread_does_not_wait_for_another_s_model_for_ever() -> None:
    begun, end = threading.Event(), threading.Event()

    def make() -> RegistryEntry:
        begun.set()
        end.wait(PATIENCE)
        return entry("a")

    with SqliteInstructionRegistry(wait=0.1) as registry, ThreadPoolExecutor(1) as pool:
        first = pool.submit(registry.get_or_create, "a", make)
        begun.wait(PATIENCE)
        with pytest.raises(TimeoutError, match="entry of 'a'"):
            registry.get_or_create("a", unexpected)
        end.set()
        assert first.result() == entry("a")


def test_an_entry_that_came_meanwhile_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "known.sqlite"
    with SqliteInstructionRegistry(path) as first, SqliteInstructionRegistry(path) as second:

        def make() -> RegistryEntry:
            second.add([entry("a", 7)])
            return entry("a")

        assert first.get_or_create("a", make).times_seen == 8


def test_a_template_outlives_the_registry_and_serves_other_values(tmp_path: Path) -> None:
    calls = []

    def model(instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        calls.append(instruction)
        return "FETCH|HR|res:absence|filter:emp=E-17"

    path = tmp_path / "known.sqlite"
    options = {"domain": "HR", "return_agent": "A"}
    with SqliteInstructionRegistry(path) as registry:
        FallbackEncoder(registry, model).encode("Fetch the absence records of E-17", **options)
    with SqliteInstructionRegistry(path) as registry:
        found = FallbackEncoder(registry).encode("Get the absence records of E-18", **options)
        assert (found.tier, found.packet.fields["filter"], found.times_seen) == (EncodingTier.PATTERN, "emp=E-18", 2)
        assert [entry.packet for entry in registry.entries()] == [
            "FETCH|HR|return:A|p:2|aacp:1.1|res:absence|filter:emp={1}"
        ]
    assert len(calls) == 1


def test_forty_threads_with_other_values_of_one_shape_make_one_call(registry: SqliteInstructionRegistry) -> None:
    calls = []

    def make() -> RegistryEntry:
        calls.append(1)
        return entry("shape")

    def ask(number: int) -> RegistryEntry:
        return registry.get_or_create(f"pattern {number}", make, shape="shape")

    with ThreadPoolExecutor(40) as pool:
        found = list(pool.map(ask, range(40)))
    assert len(calls) == 1
    assert sorted(each.times_seen for each in found) == list(range(1, 41))


def test_the_first_of_several_patterns_is_found(registry: SqliteInstructionRegistry) -> None:
    registry.add([entry("a"), entry("b")])
    assert registry.find("x", "", "b", "a") == entry("b", seen=2)
    assert registry.find("x", "") is None


def test_claims_of_dead_owners_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "known.sqlite"
    with SqliteInstructionRegistry(path) as registry:
        with contextlib.closing(sqlite3.connect(path)) as other, other:
            other.execute("INSERT INTO claims VALUES ('dead', 'owner', 0)")
        registry.get_or_create("a", lambda: entry("a"))
        with contextlib.closing(sqlite3.connect(path)) as other:
            assert other.execute("SELECT count(*) FROM claims").fetchone() == (0,)
