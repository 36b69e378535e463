"""Values that are alike, and values in a store."""

from typing import Any

import pytest

from accp_core.accp.frame import json_to_value, same, value_to_json
from accp_core.errors import ProtocolError


@pytest.mark.parametrize("value", ["x" * 60, [1, 1.0, True, None, "é\ud800"], {"k e": {"a": -0.0}}, 10**30])
def test_what_is_stored_is_read_type_for_type(value: Any) -> None:
    text = value_to_json(value)
    assert text is not None
    assert same(json_to_value(text), value)


def test_two_surrogates_that_json_would_join_are_not_stored() -> None:
    assert value_to_json(chr(0xD83D) + chr(0xDE00)) is None


def test_a_stored_text_that_is_no_json_is_no_value_e2001() -> None:
    with pytest.raises(ProtocolError, match="E2001"):
        json_to_value("{")
