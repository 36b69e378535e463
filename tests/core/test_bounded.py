"""A dictionary that evicts its oldest entry for each one too many."""

import copy
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
