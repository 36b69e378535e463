"""Packets in words."""

import pytest

from accp_core.aacp import encode_packet, explain, parse_packet
from accp_core.aacp.audit import DOMAINS, LABELS, TASKS
from accp_core.aacp.packet import DRAFT_VOCABULARY, FIELD_TYPES, ORDER


@pytest.mark.requirement("aacp:8-1")
@pytest.mark.parametrize(
    ("text", "english"),
    [
        (
            "FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json",
            "Fetch (human resources): resource 'emp_salary'; period '2024-08'; where 'status=active'; format 'json'; "
            "answer to 'HR-Agent'; critical priority; AACP 1.1.",
        ),
        ("ACK|MKT|return:R|p:2|aacp:1.1", "Acknowledge (marketing); answer to 'R'; medium priority; AACP 1.1."),
        ("EXPLODE|ZZZ|org_x:y|p:7", "EXPLODE (ZZZ): org_x 'y'; 7 priority."),
        ("FETCH|HR", "Fetch (human resources)."),
    ],
)
def test_a_packet_is_one_sentence(text: str, english: str) -> None:
    assert explain(parse_packet(text)) == english


@pytest.mark.requirement("aacp:8-1")
def test_every_word_of_the_draft_has_a_name() -> None:
    assert set(TASKS) == DRAFT_VOCABULARY.tasks
    assert set(DOMAINS) == DRAFT_VOCABULARY.domains
    assert {"return", "p", "aacp", *LABELS} == set(ORDER)


@pytest.mark.requirement("aacp:15-4", "aacp:15-5")
def test_every_value_is_told_as_it_stands() -> None:
    values = {key: f"value-{number}" for number, key in enumerate(LABELS) if key not in FIELD_TYPES}
    told = explain(encode_packet("FETCH", "HR", return_agent="A", **values, org_own="mine"))
    assert [value for value in (*values.values(), "mine") if value not in told.lower()] == []
