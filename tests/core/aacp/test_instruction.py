"""Which instructions are one wording, and which never are."""

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
