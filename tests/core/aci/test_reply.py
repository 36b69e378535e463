"""What an agent returns: how words become a reply, that it is checked once, and how long results are stored."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core.aci import AcceptedReply, KeyInformation, offload_long
from accp_core.aci.items import MAX_ABSTRACT_CHARS
from accp_core.errors import ProtocolError
from accp_core.references import key_of, short_reference
from tests.core.aci.plans import reply, start, subtask

SENT = subtask("s1", items=2, context_uri=("$cold.a",))
LONG = "\n".join(f"account {number} left because of the price" for number in range(100))


def words(text: str) -> int:
    return len(text.split())


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
