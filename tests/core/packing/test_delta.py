"""Deltas of plain maps."""

from accp_core.packing.delta import REMOVED, Removed, apply, diff


def test_a_key_that_went_is_removed_and_a_null_stays_a_null() -> None:
    delta = diff({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": None})
    assert delta == {"b": None, "c": REMOVED}
    assert apply({"a": 1, "b": 2, "c": 3}, delta) == {"a": 1, "b": None}


def test_types_count() -> None:
    assert diff({"a": 1, "b": 0.0}, {"a": True, "b": -0.0}) == {"a": True, "b": -0.0}


def test_removing_what_is_not_there_is_no_error() -> None:
    gone: dict[str, int | Removed] = {"a": REMOVED}
    assert apply({"b": 1}, gone) == {"b": 1}
