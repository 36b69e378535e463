"""The word lists of ACCP sections 3.5, 4.1 and 5.4."""

import pytest

from accp_core.accp.frame import (
    ENVELOPE_FIELDS,
    Intent,
)


@pytest.mark.requirement("8.1-2")
def test_the_intents_are_those_of_table_7_and_the_heartbeat() -> None:
    table_7 = ["req", "done", "fail", "wait", "esc", "comp", "sync", "qry", "ack", "cancel", "stream", "end"]
    assert [intent.value for intent in Intent] == [*table_7, "ping", "pong"]


def test_the_fields_are_those_of_table_4_in_its_order() -> None:
    assert list(ENVELOPE_FIELDS.values()) == ["mid", "seq", "ts", "cid", "aid", "sid", "ttl"]
