"""Registries of others: taken item by item, refused item by item."""

from typing import Any

import pytest

from accp_core.aacp import FallbackEncoder, InstructionRegistry
from accp_core.aacp.registry import read_registry
from accp_core.errors import ProtocolError

PATTERN = {
    "id": "0a1b2c3d4e5f",
    "timestamp": "2026-06-01T17:20:33+00:00",
    "domain": "HR",
    "english": "Cross-reference the new employee against the background check database.",
    "english_normalised": "cross-reference the new employee against the background check database.",
    "keywords": ["cross-reference", "employee", "background", "check", "database"],
    "aacp_packet": "FETCH|HR|return:HR-Agent|p:2|aacp:1.2|res:background_check|match:new_employee",
    "compression_loss": "none",
    "loss_note": None,
    "times_seen": 7,
}
RULE = {
    "id": "cs-fetch-nps-scores",
    "name": "Fetch recent NPS scores",
    "description": "Retrieve recent NPS survey responses for analysis",
    "task": "FETCH",
    "dom": "CS",
    "packet": "FETCH|CS|return:CS-Agent|p:2|aacp:1.4|res:nps_scores|filter:period=last_30_days|fmt:json",
    "tags": ["nps"],
    "version": "1.1",
    "source": "community",
    "validated": True,
}


@pytest.mark.parametrize("data", [{"version": "1.0.0", "rules": [RULE]}, [RULE], RULE])
def test_community_rules_are_served_by_name_and_by_description(data: Any) -> None:
    taken = read_registry(data, keep_english=True)
    assert {entry.english for entry in taken.entries} == {RULE["name"], RULE["description"]}
    encoder = FallbackEncoder(InstructionRegistry(taken.entries))
    for english in ("Please fetch recent NPS scores.", "get recent NPS survey responses for analysis"):
        assert encoder.encode(english, domain="CS", return_agent="X").packet.fields["res"] == "nps_scores"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (3, "item 1: expected an object, found 3"),
        ({}, "item 1: packet: expected text, found None"),
        ({**RULE, "packet": "FETCH||return:A"}, "item 1 ('cs-fetch-nps-scores'): DOM: an empty slot"),
        ({**RULE, "packet": "FETCH|CS|p:1"}, "return: is missing"),
        ({**RULE, "packet": "FETCH|CS|return:A|p:1|aacp:1.1"}, "FETCH needs one of res, src, data_ptr"),
        ({**RULE, "dom": "HR"}, "expected a packet for 'HR', found 'CS'"),
        ({"packet": RULE["packet"]}, "description: expected text, found None"),
        ({**RULE, "name": 7}, "name: expected text, found 7"),
        ({**PATTERN, "english": ""}, "item 1 ('0a1b2c3d4e5f'): expected 1 to 10000 characters"),
        ({**PATTERN, "english": None}, "english: expected text, found None"),
        ({**PATTERN, "domain": None}, "expected a packet for None, found 'HR'"),
        ({**PATTERN, "aacp_packet": "FETCH|HR|return:A|p:9|aacp:1.1|res:x"}, "priority: expected 1, 2, 3"),
    ],
)
def test_what_is_wrong_with_an_item_is_told_and_the_others_are_taken(item: Any, reason: str) -> None:
    taken = read_registry([item, {**PATTERN, "id": "good", "english": "Look at it"}])
    assert len(taken.refused) == 1
    assert reason in taken.refused[0]
    assert [entry.packet for entry in taken.entries if "background_check" in entry.packet]


def test_of_two_packets_for_one_wording_the_first_is_taken() -> None:
    other = {**RULE, "id": "other", "packet": RULE["packet"].replace("json", "csv")}  # type: ignore[attr-defined]  # text
    taken = read_registry([RULE, other, RULE])
    assert len(taken.entries) == 2
    (reason,) = taken.refused
    assert reason.startswith("item 2 ('other'): expected the packet of the same wording, 'FETCH|CS|")


@pytest.mark.parametrize("seen", ["7", 0, -1, True, 1 << 70, None])
def test_a_count_that_is_none_is_one(seen: Any) -> None:
    (entry,) = read_registry([{**PATTERN, "times_seen": seen}]).entries
    assert entry.times_seen == 1


@pytest.mark.parametrize("data", [None, "text", 3, {}, {"rules": {}}, {"rules": None}])
def test_a_document_that_is_no_registry_is_refused(data: Any) -> None:
    with pytest.raises(ProtocolError, match="E1001: expected at most 1000000 patterns"):
        read_registry(data)
