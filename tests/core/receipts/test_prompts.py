"""What counts as shown of a conversation as it is projected."""

from __future__ import annotations

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import CallRecord, MessageRecord, ProjectionRules, PromptProjector, Role
from accp_core.receipts import Origin, check_prompt

LONG = "\n".join(f"CRM-{n:04} is Customer {n}, to be reached at c{n}@example.com" for n in range(300))
RULES = ProjectionRules(counter=o200k_base(), limits=ResultLimits(), batch_limit=16_000, open_with="accp_fetch")


def origins(answer: str, *records: MessageRecord, instructions: str = "") -> list[Origin]:
    sent = PromptProjector(RULES).project(records).messages
    found = check_prompt(answer, records, sent, names=RULES.agent_names, instructions=instructions)
    return [receipt.origin for receipt in found]


def say(role: Role, *blocks: str | None, **fields: object) -> MessageRecord:
    return MessageRecord(role=role, blocks=blocks, **fields)  # type: ignore[arg-type]  # the fields of the record


def test_of_a_preview_only_what_it_shows_counts_and_what_was_fetched() -> None:
    asked, result = say(Role.USER, "Who is it?"), say(Role.TOOL, LONG)
    assert origins("It is CRM-0000.", asked, result) == [Origin.SHOWN]
    assert origins("It is CRM-0177.", asked, result) == [Origin.NOWHERE]
    fetched = say(Role.TOOL, "CRM-0177 is Customer 177", name="accp_fetch")
    assert origins("It is CRM-0177.", asked, result, fetched) == [Origin.SHOWN]
    assert origins("It is CRM-0177.", asked, result, result) == [Origin.NOWHERE]


def test_the_words_of_the_agent_are_not_shown_to_it_but_those_of_others_are() -> None:
    call = CallRecord(id="c1", name="write", args={"path": "out_77.csv"})
    handed = CallRecord(id="c2", name="transfer", args={"task": "See out_78.csv."})
    own = say(Role.MODEL, "I take CRM-9999.", None, calls=(call, handed))
    records = (say(Role.USER, "See CRM-1234."), own, say(Role.TOOL, "done", call_id="c1"))
    assert origins("CRM-1234", *records) == [Origin.SHOWN]
    assert origins("CRM-9999", *records) == [Origin.NOWHERE]
    assert origins("It is in out_77.csv", *records) == [Origin.OWN]
    assert origins("See out_78.csv.", *records) == [Origin.NOWHERE]
    assert origins("CRM-5555", *records, instructions="You are CRM-5555.") == [Origin.SHOWN]


def test_the_request_says_what_is_counted() -> None:
    rows = say(Role.TOOL, '[{"a":1,"state":"open"}' + ',{"a":2,"state":"open"}' * 16 + ',{"a":3,"state":"shut"}]')
    assert origins("There are 17.", rows) == [Origin.NOWHERE]
    assert origins("There are 17.", say(Role.USER, "How many are open?"), rows) == [Origin.DERIVED]
