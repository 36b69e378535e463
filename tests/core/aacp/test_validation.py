"""Reports: own words, guards, and what may be sent."""

import pytest

from accp_core.aacp import DRAFT_VOCABULARY, parse_packet, validate
from accp_core.errors import EncodeError

TEXT = "AUDIT|OPS|return:A|p:1|aacp:1.1|org_ticket:T-1"


@pytest.mark.requirement("aacp:5.2-1", "aacp:13-1", "aacp:13-2")
def test_an_organisation_s_own_words_are_known_where_they_are_declared() -> None:
    own = DRAFT_VOCABULARY.adding(tasks=["AUDIT"], domains=["OPS"], keys=["org_ticket"])
    assert [finding.code for finding in validate(TEXT).warnings] == ["unknown-task", "unknown-domain", "unknown-key"]
    assert validate(TEXT, vocabulary=own).warnings == ()


def test_a_packet_is_validated_like_its_text() -> None:
    text = "FETCH|HR|p:9|aacp:1.1|sentiment:bad|res:"
    assert validate(parse_packet(text)).errors == validate(text).errors
    assert validate(parse_packet(text)).warnings == validate(text).warnings


@pytest.mark.requirement("aacp:7-11")
def test_only_a_valid_packet_is_given_out() -> None:
    assert validate(TEXT).check() == parse_packet(TEXT)
    with pytest.raises(EncodeError, match="return: is missing; aacp: is missing"):
        validate("FETCH|HR").check()


def test_a_guard_never_repeats_the_value() -> None:
    (warning,) = validate("SEND|HR|return:A|p:1|aacp:1.1|to:jane@b.example").warnings
    assert "jane" not in warning.reason
