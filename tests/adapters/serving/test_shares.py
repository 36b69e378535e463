"""Who gives way where there is no room for what several owners keep."""

from __future__ import annotations

import pytest

from accp_adapters.serving.shares import Shares, TooMany, Unread

CONNECTIONS = dict[str, object]()


def filled(names: str, total: int, each: int) -> Shares:
    """Return shares of names as `a1`, whose first letter is their owner."""
    shares = Shares(total, each)
    for name in names.split():
        assert shares.admit(name[0], name) == []
    return shares


def test_an_owner_at_its_share_gives_way_to_itself() -> None:
    shares = filled("a1 a2 b1", total=9, each=2)
    assert shares.admit("a", "a1") == []  # used again, so that a2 is its oldest
    assert shares.admit("a", "a3") == ["a2"]
    assert shares.admit("a", "a4") == ["a1"]
    assert len(shares) == 3


def test_where_there_are_too_many_the_owner_of_most_gives_way() -> None:
    shares = filled("a1 a2 a3 b1", total=4, each=4)
    assert shares.admit("c", "c1") == ["a1"]
    assert shares.admit("c", "c2") == ["c1"]  # it would be one of those who have most
    assert shares.admit("b", "b2") == ["b1"]
    shares.remove("a", "a2")
    shares.remove("a", "unknown")
    assert shares.admit("d", "d1") == []
    assert len(shares) == 4


def test_what_is_busy_gives_way_last() -> None:
    busy = {"a1", "a2", "b1"}
    shares = filled("a1 a2 a3 b1", total=4, each=3)
    assert shares.admit("a", "a4", busy.__contains__) == ["a3"]
    assert shares.admit("c", "c1", busy.__contains__) == ["a4"]
    assert shares.admit("d", "d1", busy.__contains__) == ["a1"]  # a has most, and nothing else


def test_an_owner_whose_whole_share_is_busy_is_refused_alone() -> None:
    shares = filled("a1 a2", total=9, each=2)
    with pytest.raises(TooMany, match=r"E2003.*at most 2 at once of 'a'") as refused:
        shares.admit("a", "a3", lambda _: True)
    assert refused.value.is_own
    assert shares.admit("b", "b1", lambda _: True) == []
    assert len(shares) == 3


def test_nobody_loses_what_is_busy_to_something_new_of_its_own() -> None:
    shares = filled("a1 a2 b1", total=3, each=3)
    with pytest.raises(TooMany, match=r"E2003.*at most 2 at once of 'a'"):
        shares.admit("a", "a3", lambda _: True)
    assert shares.admit("c", "c1", lambda _: True) == ["a1"]


def test_sizes_give_way_until_there_is_room() -> None:
    shares = Shares(10, 6)
    assert [shares.admit(name[0], name, size=size) for name, size in (("a1", 2), ("a2", 2), ("b1", 3))] == [[]] * 3
    assert shares.admit("a", "a3", size=4) == ["a1"]  # its share is 6
    assert shares.admit("b", "b1", size=1) == []
    assert len(shares) == 7
    assert shares.admit("a", "a3", size=6) == ["a2"]
    assert shares.admit("c", "c1", size=4) == ["a3"]  # a has most
    assert len(shares) == 5
    with pytest.raises(TooMany, match="E2003"):
        shares.admit("c", "c1", size=7)


def test_a_name_that_is_refused_takes_nothing_of_others() -> None:
    shares = Shares(10, 8)
    for name, size in (("a1", 4), ("a2", 4), ("b1", 1)):
        shares.admit(name[0], name, size=size)
    with pytest.raises(TooMany, match="of 'b', found all of them in use"):
        shares.admit("b", "b2", lambda name: name == "b1", size=6)
    assert len(shares) == 9
    assert shares.admit("c", "c1", size=2) == ["a1"]


def test_of_bytes_that_nobody_takes_the_oldest_of_the_address_with_most_are_cut() -> None:
    unread, cut = Unread(10), list[str]()

    def count(name: str, size: int) -> None:
        unread.count(name[0], CONNECTIONS.setdefault(name, object()), size, lambda: cut.append(name))

    for name, size in (("a1", 4), ("a2", 3), ("b1", 2), ("a1", 0), ("b2", 4)):
        count(name, size)
    assert cut == []
    count("a3", 4)
    assert cut == ["a2"]
    count("c1", 11)
    assert cut[-1] == "c1"
