"""How two registries become one."""

import json
from typing import Any

import pytest

from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.session.events import RegistryAgreed, RegistryUpdated
from accp_core.accp.session.parts import Negotiation
from accp_core.errors import ProtocolError


def knowing(*codes: str) -> SchemaRegistry:
    registry = BUILT_IN
    for code in codes:
        registry = registry.register(Schema(name=code.lower(), code=code, version=1, fields=("x",)))
    return registry


def talk(one: Negotiation, other: Negotiation, *said: tuple[Negotiation, dict[str, Any]]) -> int:
    """Let two ends answer each other until nobody has an answer; return how often somebody spoke."""
    queue = list(said)
    spoken = 0
    while queue:
        speaker, payload = queue.pop(0)
        spoken += 1
        hearer = other if speaker is one else one
        _, answer = hearer.receive(json.loads(json.dumps(payload)))
        if answer is not None:
            queue.append((hearer, answer))
    return spoken


@pytest.mark.requirement("6.4-1")
def test_equal_registries_agree_by_their_hashes() -> None:
    one, other = Negotiation(BUILT_IN), Negotiation(BUILT_IN)
    said = one.announce()
    events, answer = other.receive(said)
    assert events == [RegistryAgreed(version=1, hash=BUILT_IN.hash)]
    assert answer == said
    assert one.receive(answer) == (events, None)
    assert one.announced and one.is_peer_known and other.announced and other.is_peer_known


@pytest.mark.requirement("8.3-2")
def test_a_peer_with_other_schemas_is_told_all_once_and_both_know_both_afterwards() -> None:
    one, other = Negotiation(knowing("AA")), Negotiation(knowing("BB"))
    events, offer = other.receive(one.announce())
    assert events == []
    assert offer is not None and "schemas" in offer
    events, rest = one.receive(offer)
    assert [type(event) for event in events] == [RegistryUpdated]
    assert rest is not None and set(rest["schemas"]) == {"aa"}
    events, answer = other.receive(rest)
    assert [type(event) for event in events] == [RegistryUpdated, RegistryAgreed]
    assert answer is not None
    assert one.receive(answer) == ([RegistryAgreed(version=one.registry.version, hash=one.registry.hash)], None)
    assert one.registry.hash == other.registry.hash == knowing("AA", "BB").hash


@pytest.mark.requirement("8.3-2")
def test_two_that_speak_at_once_agree_and_fall_silent() -> None:
    one, other = Negotiation(knowing("AA")), Negotiation(knowing("BB"))
    assert talk(one, other, (one, one.announce()), (other, other.announce())) < 12
    assert one.registry.hash == other.registry.hash


def test_a_schema_that_is_registered_later_reaches_the_peer() -> None:
    one, other = Negotiation(BUILT_IN), Negotiation(BUILT_IN)
    talk(one, other, (one, one.announce()))
    for negotiation, code in ((one, "AA"), (other, "BB"), (one, "CC")):
        negotiation.change(negotiation.registry.register(Schema(name=code, code=code, version=1, fields=("x",))))
        assert not negotiation.announced
        talk(one, other, (negotiation, negotiation.announce()))
        assert one.registry.hash == other.registry.hash


def test_a_peer_that_never_agrees_is_answered_once_for_each_hash() -> None:
    one = Negotiation(BUILT_IN)
    answers = [one.receive({"version": 1, "hash": "abcdef123456"})[1] for _ in range(4)]
    assert ["schemas" in (answer or {}) for answer in answers] == [True, False, False, False]
    assert answers[1] == BUILT_IN.announcement()
    assert answers[2:] == [None, None]


@pytest.mark.requirement("9-5")
def test_a_registry_that_was_tampered_with_is_refused_with_e5001() -> None:
    one, offer = Negotiation(BUILT_IN), knowing("AA").offer()
    offer["schemas"]["aa"]["fields"] = ["y"]
    with pytest.raises(ProtocolError, match="E5001"):
        one.receive(offer)
    assert one.registry is BUILT_IN
    assert not one.is_peer_known


def test_an_announcement_without_a_hash_is_refused_with_e1004() -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        Negotiation(BUILT_IN).receive({"version": 1})
