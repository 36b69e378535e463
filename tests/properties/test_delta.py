"""Deltas: what they do, alone and one after the other (ACCP section 5.4)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import parse_frame, serialize_frame
from accp_core.accp import Frame, Intent
from accp_core.accp.state.context_state import ContextState
from accp_core.packing.values import REMOVED, apply, diff
from tests.conformance.vectors import exact
from tests.properties.strategies import deltas, floats, keys, values

maps = st.dictionaries(keys, values(floats), max_size=5)


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw two maps that have some members in common."""
    old = draw(maps)
    kept = {key: value for key, value in old.items() if draw(st.booleans())}
    return old, {**kept, **draw(maps)}


@pytest.mark.requirement("8.3-1")
@given(neighbours())
def test_a_difference_makes_the_new_value_of_the_old_one(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    made = apply(old, diff(old, new))
    assert {key: exact(value) for key, value in made.items()} == {key: exact(value) for key, value in new.items()}


@given(maps, deltas(floats), deltas(floats))
def test_two_deltas_do_together_what_they_do_one_after_the_other(
    old: dict[str, Any], first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert exact(apply(apply(old, first), second)) == exact(apply(old, {**first, **second}))


@given(maps)
def test_nothing_changed_is_an_empty_delta(value: dict[str, Any]) -> None:
    assert diff(value, dict(value)) == {}
    assert exact(apply(value, {})) == exact(value)


@pytest.mark.requirement("5.4-1")
@given(neighbours())
def test_a_delta_is_no_more_than_what_changed(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    delta = diff(old, new)
    assert set(delta) <= set(old) | set(new)
    assert {key for key, value in delta.items() if value is REMOVED} == set(old) - set(new)


@pytest.mark.requirement("8.3-1")
@given(neighbours())
def test_a_delta_survives_the_wire_and_raises_the_version(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    old, new = pair
    state = ContextState(session_id="s").with_context(6, old)
    version, delta = state.delta_to(new)
    params: dict[str, Any] = {"v": version, "delta": delta}
    text = serialize_frame(Frame(sender="a", intent=Intent.SYNCHRONIZE, operation="state", params=params))
    said = parse_frame(text, strict=True).params
    after = state.apply_delta(said["v"], said["delta"])
    assert after is not None
    assert after.version == 7
    made = {key: exact(value) for key, value in after.context.items()}
    assert made == {key: exact(value) for key, value in new.items()}
