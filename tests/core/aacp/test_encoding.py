"""Arguments that have no text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from accp_core.aacp import DRAFT_VOCABULARY, encode_packet
from accp_core.errors import EncodeError


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), pytest.param(10**5000, id="digits"), True, b"x", object(), {"a": 1}],
)
def test_what_has_no_text_is_refused_by_name(value: Any) -> None:
    with pytest.raises(EncodeError, match="E1004: amt: "):
        encode_packet("PROC", "FIN", return_agent="A", amt=value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-1, "-1"), (1.0, "1.0"), (Decimal("10.50"), "10.50"), ("007", "007"), (1e22, "1e+22")],
)
def test_a_number_is_written_as_it_is(value: Any, text: str) -> None:
    assert encode_packet("PROC", "FIN", return_agent="A", amt=value).fields["amt"] == text


def test_a_vocabulary_has_keys_of_its_own() -> None:
    own = DRAFT_VOCABULARY.adding(keys=["site"])
    assert str(encode_packet("ACK", "IT", return_agent="A", vocabulary=own, site="x")).endswith("|site:x")


def test_a_key_of_an_organisation_may_hold_a_list() -> None:
    assert encode_packet("ACK", "IT", return_agent="A", org_tags=["a", 1]).fields["org_tags"] == "a,1"
