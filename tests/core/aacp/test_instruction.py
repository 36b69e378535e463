"""Which instructions are one wording, and which never are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.aacp import Packet
from accp_core.aacp.instruction import MAX_INSTRUCTION_CHARS, Instruction, find_omissions
from accp_core.errors import EncodeError

TEXT = "Fetch the salary records of employee E-17 for 2024-08, not the pensions."


def read(english: str, **changes: Any) -> Instruction:
    return Instruction(**{"english": english, "domain": "HR", "return_agent": "HR-Agent", **changes})


@pytest.mark.requirement("aacp:6.3-1")
@pytest.mark.parametrize(
    "english",
    [
        "fetch  the salary records of employee E-17 for 2024-08, not the pensions.",
        " Fetch the\nsalary records of Employee E-17 for 2024-08, not the pensions. ",
    ],
)
def test_case_and_white_space_make_no_other_instruction(english: str) -> None:
    assert read(english).key == read(TEXT).key
    assert read(english).pattern == read(TEXT).pattern


@pytest.mark.parametrize(
    "english",
    [
        "Please fetch the salary records of employee E-17 for 2024-08, not the pensions",
        "Could you please retrieve salary records of employee E-17 for 2024-08, not pensions?",
        "I need you to get the salary records of the employee E-17 for 2024-08, not the pensions. Thanks!",
        "Would you kindly obtain salary records of employee E-17 for 2024-08, not the pensions. Thank you.",
    ],
)
def test_politeness_and_articles_make_no_other_wording(english: str) -> None:
    assert read(english).pattern == read(TEXT).pattern
    assert read(english).key != read(TEXT).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delete the records of 2024-08", "Delete the records of 2024-09"),
        ("Pay 1000 to Acme", "Pay 10000 to Acme"),
        ("Pay -5 to Acme", "Pay 5 to Acme"),
        ("Pay (500) to Acme", "Pay 500 to Acme"),
        ("Pay 1.5 to Acme", "Pay 15 to Acme"),
        ("Pay £42 to Acme", "Pay $42 to Acme"),
        ("Delete the records", "Do not delete the records"),
        ("Delete the records", "Never delete the records"),
        ("Delete all records", "Delete all records except drafts"),
        ("Do not pay Acme, delete it", "Pay Acme, do not delete it"),
        ("Fetch active employees", "Fetch inactive employees"),
        ("Approve the invoice", "Reject the invoice"),
        ("Fetch record ab12Cd", "Fetch record AB12cd"),
        ("Fetch account iPay", "Fetch account ipay"),
        ("Move j.smith to group A", "Move j.smith to group B"),
        ("Send the report from HR to FIN", "Send the report from FIN to HR"),
        ("Delete the records?", "Delete the records"),
        ("Fetch invoices", "Fetch invoice"),
        ("Pay Smith, Jones", "Pay Smith Jones"),
        ("Fetch the records before May", "Fetch the records after May"),
        ("Pay ½ of it", "Pay ¼ of it"),
    ],
)
def test_what_may_mean_something_else_is_another_wording(one: str, other: str) -> None:
    assert read(one).pattern != read(other).pattern


def test_a_contraction_is_a_negation() -> None:
    for short, long in [
        ("Don't delete it", "Do not delete it"),
        ("It can\u2019t wait", "It can not wait"),
        ("It cannot wait", "It can not wait"),
        ("It won't do", "It will not do"),
    ]:
        assert read(short).pattern == read(long).pattern
    assert read("n't").pattern != read("not").pattern


def test_the_domain_keeps_wordings_apart_and_the_agent_only_instructions() -> None:
    assert read(TEXT, domain="FIN").pattern != read(TEXT).pattern
    for changes in ({"return_agent": "B"}, {"priority": "1"}):
        assert read(TEXT, **changes).pattern == read(TEXT).pattern
        assert read(TEXT, **changes).key != read(TEXT).key


WORDS = "not no never don't a the please fetch get delete 2024-08 2024-09 17 E-17 e-17 aB ab A , . ? !"
WORD = st.sampled_from(WORDS.split())
TEXTS = st.lists(WORD, min_size=1, max_size=8).map(" ".join)


@given(TEXTS, TEXTS)
def test_one_wording_has_the_same_numbers_identifiers_and_negations(one: str, other: str) -> None:
    facts = {"not", "no", "never", "don't", "2024-08", "2024-09", "17", "E-17", "e-17", "aB", "A"}
    first, second = read(one), read(other)
    if first.key == second.key:
        assert first.pattern == second.pattern
    if first.pattern == second.pattern:
        kept = [
            [("not" if word == "don't" else word) for word in text.split() if word in facts] for text in (one, other)
        ]
        assert kept[0] == kept[1]


@given(st.text(max_size=200))
def test_any_text_is_an_instruction_or_refused(english: str) -> None:
    try:
        said = read(english)
    except EncodeError as error:
        assert error.code == "E1004"
        assert not english.strip()
    else:
        assert len(said.key) == len(said.pattern) == 64
        list(find_omissions(said, Packet(task="ACK", domain="HR", fields={})))


@pytest.mark.parametrize("english", ["please", "thanks", "the", ".", "Thank you.", "Could you?", "..."])
def test_an_instruction_may_say_nothing(english: str) -> None:
    assert read(english).pattern


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"english": " "}, "expected 1 to 10000 characters"),
        ({"english": "x" * (MAX_INSTRUCTION_CHARS + 1)}, "expected 1 to 10000 characters"),
        ({"priority": "9"}, "priority: expected 1, 2, 3, found '9'"),
        ({"domain": ""}, "domain: expected a word"),
        ({"return_agent": " "}, "return_agent: expected a word"),
    ],
)
def test_what_can_be_no_instruction_is_refused(changes: dict[str, str], reason: str) -> None:
    with pytest.raises(EncodeError, match=reason):
        read(**{"english": TEXT, **changes})


@pytest.mark.parametrize(
    ("english", "values", "missing"),
    [
        ("Fetch salaries for 2024-08 as JSON", {"period": "2024-08", "fmt": "json"}, []),
        ("Fetch salaries ending 31 August 2024", {"period": "2024-08"}, ["'31'"]),
        ("Fetch records of E-17.", {"res": "records"}, ["'E-17'"]),
        ("I need it", {}, []),
        ("Do not delete it", {"res": "records"}, ["'not'"]),
        ("Don't delete it", {"filter": "action!=delete"}, []),
        ("Fetch all except drafts", {"filter": "exclude=drafts"}, []),
        ("Fetch none", {"res": "north_notes"}, ["'none'"]),
    ],
)
def test_what_the_packet_does_not_say_is_told(english: str, values: dict[str, str], missing: list[str]) -> None:
    found = list(find_omissions(read(english), Packet(task="FETCH", domain="HR", fields=values)))
    assert [finding.code for finding in found] == ["omitted"] * len(missing)
    assert [finding.reason.split()[0] for finding in found] == missing
