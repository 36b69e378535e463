"""What an agent returns: how words become a reply, that it is checked once, and how long results are stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accp_core.aci import (
    AcceptedReply,
    AgentReply,
    KeyInformation,
    accept_reply,
    offload_long,
    reply_from_words,
)
from accp_core.aci import reply as reply_module
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.errors import ProtocolError
from accp_core.references import key_of, short_reference
from tests.core.aci.plans import reply, start, subtask

SENT = subtask("s1", items=2, context_uri=("$cold.a",))
FOUND = replace(SENT, key_information=(KeyInformation("1", "6 accounts"),))
LONG = "\n".join(f"account {number} left because of the price" for number in range(100))


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.requirement("aci:5.3-2")
def test_a_reply_may_be_a_context_or_its_json() -> None:
    assert accept_reply(SENT, FOUND) == accept_reply(SENT, FOUND.to_json()) == FOUND


@pytest.mark.requirement("aci:5.3-2")
@pytest.mark.parametrize("returned", [FOUND, FOUND.to_json(), AgentReply(context=FOUND.to_json())])
def test_whatever_an_agent_returns_becomes_an_accepted_reply(returned: Any) -> None:
    assert AcceptedReply.of(SENT, returned) == AcceptedReply(context=FOUND)


@pytest.mark.requirement("aci:5.3-2")
def test_an_accepted_reply_keeps_long_results_and_lists_the_new_references() -> None:
    context = replace(FOUND, context_uri=("$cold.a", "$cold.b"))
    accepted = AcceptedReply.of(SENT, AgentReply(context=context, full={"1": LONG}, stored=["$cold.b", "$cold.c"]))
    assert (accepted.full, accepted.stored) == ({"1": LONG}, ("accp://cold/b",))
    assert AcceptedReply.of(SENT, context, stored=["$cold.b"]).stored == ("accp://cold/b",)


@pytest.mark.requirement("aci:5.3-2")
def test_a_reply_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    interaction, (delivery,) = start(SENT).deliver()
    accepted = AcceptedReply.of(delivery.context, reply(delivery))
    after = interaction.receive(delivery.id, reply(delivery))
    monkeypatch.setattr(reply_module, "accept_reply", None)
    assert interaction.receive(delivery.id, accepted) == after
    assert interaction.receive(delivery.id, AcceptedReply.from_json(accepted.to_json())) == after


@pytest.mark.requirement("aci:5.3-2")
@pytest.mark.parametrize(
    "other",
    [subtask("s2", items=2, context_uri=("$cold.a",)), subtask("s1", context_uri=("$cold.a",)), subtask("s1", items=2)],
)
def test_a_reply_that_was_accepted_for_another_context_is_checked(other: Any) -> None:
    accepted = AcceptedReply.of(other, replace(other, item_state_updates=()))
    assert AcceptedReply.of(other, accepted) is accepted
    with pytest.raises(ProtocolError, match="E5001"):
        AcceptedReply.of(SENT, replace(accepted, context=replace(accepted.context, context_uri=("$cold.c",))))


@pytest.mark.requirement("aci:5.3-2")
def test_references_that_are_added_after_the_check_are_those_of_the_agent() -> None:
    interaction, (delivery,) = start(SENT).deliver()
    accepted = AcceptedReply.of(delivery.context, reply(delivery, i1=LONG[:1_900], i2="fine"))
    context, (text,) = offload_long(accepted.context, accepted.full, limit=60, counter=words)
    interaction = interaction.receive(delivery.id, replace(accepted, context=context))
    assert interaction.references == (text.key,)


@pytest.mark.requirement("aci:5.3-2")
@pytest.mark.parametrize("data", [None, [], {"context": SENT.to_json()}, {"stored": []}])
def test_what_is_no_accepted_reply_is_refused(data: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004: expected a reply"):
        AcceptedReply.from_json(data)


@pytest.mark.requirement("aci:5.3-2")
def test_words_become_a_reply_with_a_long_result_beside_its_beginning() -> None:
    found = reply_from_words(SENT, f"1: done: {LONG}\n2: not done: no table")
    assert found.full == {"1": LONG}
    context = accept_reply(SENT, found.context)
    assert context.states == {"1": 1, "2": 0}
    assert context.abstracts == {"1": LONG[:MAX_ABSTRACT_CHARS], "2": "no table"}


@pytest.mark.requirement("aci:5.3-2")
def test_a_long_result_becomes_a_preview_and_a_reference_and_a_short_one_stays() -> None:
    entries = (KeyInformation("1", LONG[:MAX_ABSTRACT_CHARS]), KeyInformation("2", "fine"))
    context, (text,) = offload_long(
        replace(SENT, key_information=entries), {"1": LONG}, limit=60, counter=words, open_with="accp_fetch"
    )
    assert (text.text, text.key) == (LONG, key_of(LONG))
    assert f"accp_fetch {short_reference(text.key)}" in context.abstracts["1"]
    assert words(context.abstracts["1"]) <= 60
    assert context.abstracts["2"] == "fine"
    assert context.context_uri == ("accp://cold/a", text.uri)


@pytest.mark.requirement("aci:5.3-2")
def test_a_result_of_few_tokens_and_many_characters_becomes_a_reference_and_two_equal_results_one() -> None:
    blanks = f"6 accounts{' ' * MAX_ABSTRACT_CHARS}."
    full = {"1": blanks, "2": blanks}
    entries = tuple(KeyInformation(item, "6 accounts") for item in full)
    context, texts = offload_long(replace(SENT, key_information=entries), full, limit=60, counter=words)
    assert [text.text for text in texts] == [blanks]
    assert all(short_reference(texts[0].key) in abstract for abstract in context.abstracts.values())
    assert all(len(abstract) <= MAX_ABSTRACT_CHARS for abstract in context.abstracts.values())
