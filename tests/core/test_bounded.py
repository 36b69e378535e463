"""A dictionary that evicts its oldest entry for each one too many."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.bounded import BoundedDict


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
