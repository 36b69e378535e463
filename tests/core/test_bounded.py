"""A dictionary that evicts its oldest entry for each one too many."""

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.bounded import BoundedDict, SizedCache


def test_the_oldest_entry_is_evicted_and_returned() -> None:
    entries: BoundedDict[str, int] = BoundedDict(2)
    assert entries.put("a", 1) is None
    assert entries.put("b", 2) is None
    assert entries.put("c", 3) == ("a", 1)
    assert entries == {"b": 2, "c": 3}
    assert entries.limit == 2


def test_an_entry_that_is_put_again_is_the_newest() -> None:
    entries: BoundedDict[str, int] = BoundedDict(2)
    for key, value in [("a", 1), ("b", 2), ("a", 3)]:
        assert entries.put(key, value) is None
    assert entries.put("c", 4) == ("b", 2)
    assert list(entries.items()) == [("a", 3), ("c", 4)]


def test_a_limit_of_none_at_all_keeps_nothing() -> None:
    entries: BoundedDict[str, int] = BoundedDict(0)
    assert entries.put("a", 1) == ("a", 1)
    assert not entries


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, BoundedDict.copy])
def test_a_copy_has_the_limit_and_entries_of_its_own(copied: Callable[[Any], BoundedDict[str, int]]) -> None:
    entries: BoundedDict[str, int] = BoundedDict(2)
    entries.put("a", 1)
    entries.put("b", 2)
    other = copied(entries)
    assert (type(other), other.limit, list(other.items())) == (BoundedDict, 2, [("a", 1), ("b", 2)])
    assert other.put("c", 3) == ("a", 1)
    assert list(entries) == ["a", "b"]


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a limit of at least 0, found -1"):
        BoundedDict[str, int](-1)


@given(st.integers(0, 5), st.lists(st.tuples(st.integers(0, 9), st.integers())))
def test_the_newest_entries_are_kept_and_no_more(limit: int, puts: list[tuple[int, int]]) -> None:
    entries: BoundedDict[int, int] = BoundedDict(limit)
    for key, value in puts:
        before = len(entries) + (key not in entries)
        assert (entries.put(key, value) is not None) == (before > limit)
    newest = list(dict.fromkeys(key for key, _ in reversed(puts)))[:limit]
    assert list(entries.items()) == [(key, dict(puts)[key]) for key in reversed(newest)]


def test_a_sized_cache_evicts_what_was_put_first_and_refuses_what_is_too_large() -> None:
    cache: SizedCache[str, str] = SizedCache(10)
    cache.put("a", "first", 4)
    cache.put("b", "second", 4)
    assert "a" in cache
    assert cache.put("c", "third", 4) == [("a", "first")]
    assert "a" not in cache
    assert (cache.get("b"), cache.pop("c"), cache.pop("c"), cache.size) == ("second", "third", None, 4)
    assert cache.put("b", "larger than all", 11) == [("b", "larger than all")]
    assert ("b" in cache, cache.get("b"), cache.size) == (False, None, 0)


def test_a_value_that_is_used_stays_longer() -> None:
    cache: SizedCache[str, str] = SizedCache(10)
    for key in "ab":
        cache.put(key, key.upper(), 5)
    assert (cache.use("a"), cache.use("z")) == ("A", None)
    assert cache.put("c", "C", 5) == [("b", "B")]


class Interrupted:
    """A key; when it is hashed for the `at`-th time, another thread puts it, too."""

    def __init__(self, put: Callable[[object], Any], *, at: int) -> None:
        self._put = put
        self._left = at

    def __hash__(self) -> int:
        self._left -= 1
        if not self._left:
            thread = threading.Thread(target=self._put, args=(self,))
            thread.start()
            thread.join()
        return 1


def test_a_value_that_two_threads_put_at_once_counts_once() -> None:
    cache: SizedCache[object, str] = SizedCache(10)
    key = Interrupted(lambda key: cache.put(key, "theirs", 3), at=2)
    cache.put(key, "ours", 3)
    assert (cache.size, cache.pop(key), cache.size) == (3, "ours", 0)


def test_a_cache_that_counted_too_much_keeps_values_again() -> None:
    cache: SizedCache[object, str] = SizedCache(10)
    for _ in range(2):
        cache.put(Interrupted(lambda key: cache.put(key, "theirs", 10), at=3), "ours", 10)
    cache.put("a", "A", 5)
    cache.put("b", "B", 5)
    assert "b" in cache
    assert cache.size <= 10
