"""The values that a frame is made of."""

from typing import Any

import pytest

from accp_core.accp import REMOVED, LiteralKey, Removed
from accp_core.accp.budget import DRAFT_LIMITS
from accp_core.accp.frame import ENVELOPE_FIELDS, Intent, KeyTable, json_to_value, same, value_to_json
from accp_core.errors import ProtocolError


def test_a_literal_key_is_not_the_key_that_it_spells() -> None:
    assert LiteralKey("d") == LiteralKey("d")
    assert LiteralKey("d") != "d"
    assert "d" != LiteralKey("d")  # noqa: SIM300 - the reflected comparison is a rule of its own
    assert LiteralKey("d") != LiteralKey("e")
    assert len({LiteralKey("d"): 1, "d": 2}) == 2


def test_a_literal_key_shows_what_it_is() -> None:
    assert repr(LiteralKey("d")) == "LiteralKey('d')"


def test_removal_is_one_value_and_not_null() -> None:
    assert Removed("~") is REMOVED
    assert REMOVED is not None


# Keys of messages and keys of frames.


@pytest.mark.requirement("3.3-2")
def test_an_alias_goes_before_table_8() -> None:
    keys = KeyTable({"d": "document", "dat": "findings"})
    assert [keys.to_wire(key) for key in ("document", "data", "findings")] == ["d", "data", "dat"]
    assert [keys.to_full(key) for key in ("d", "f", "dat")] == ["document", "findings", "findings"]


# Values that are alike, and values in a store.


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


# The word lists of ACCP sections 3.5, 4.1 and 5.4.


@pytest.mark.requirement("8.1-2")
def test_the_intents_are_those_of_table_7_and_the_heartbeat() -> None:
    table_7 = ["req", "done", "fail", "wait", "esc", "comp", "sync", "qry", "ack", "cancel", "stream", "end"]
    assert [intent.value for intent in Intent] == [*table_7, "ping", "pong"]


def test_the_fields_are_those_of_table_4_in_its_order() -> None:
    assert list(ENVELOPE_FIELDS.values()) == ["mid", "seq", "ts", "cid", "aid", "sid", "ttl"]


# Tokens of frames and their limits; here a character is a token.


@pytest.mark.requirement("3.4-1")
def test_the_draft_limits_are_those_of_table_3() -> None:
    assert (DRAFT_LIMITS.header_soft, DRAFT_LIMITS.header_hard) == (5, 10)
    assert (DRAFT_LIMITS.body_soft, DRAFT_LIMITS.body_hard) == (50, 200)
    assert (DRAFT_LIMITS.metadata_soft, DRAFT_LIMITS.metadata_hard) == (10, 30)
    assert (DRAFT_LIMITS.total_soft, DRAFT_LIMITS.total_hard) == (65, 240)
