"""Notation, matching and learned templates: what covers a text, and what never may."""

from __future__ import annotations

from typing import Any

import pytest

from accp_core.aacp import WORKFLOWS, Packet, PayrollEncoder, Workflow, WorkflowStep, parse_packet
from accp_core.aacp.instruction import Instruction
from accp_core.aacp.patterns import matching
from accp_core.aacp.patterns.english import PARTS
from accp_core.aacp.patterns.matching import PatternBook
from accp_core.aacp.patterns.notation import read_phrase
from accp_core.aacp.patterns.sayings import read_kinds
from accp_core.aacp.patterns.templates import fill_template, make_template, read_shape
from accp_core.aacp.patterns.tokens import MAX_TOKENS, read_sentence
from accp_core.errors import EncodeError, ProtocolError


def read(english: str, domain: str = "HR") -> Instruction:
    return Instruction(english=english, domain=domain, return_agent="A")


KINDS = read_kinds({}, PARTS)


def ends(notation: str, text: str) -> list[tuple[int, Any]]:
    said = read_sentence(text)
    assert said is not None
    return [(end, dict(values)) for end, values in read_phrase(notation, KINDS).find(said, 0)]


@pytest.mark.parametrize(
    ("notation", "text", "found"),
    [
        ("fetch (pay|salary) [records]", "Fetch pay records", [(3, {}), (2, {})]),
        ("fetch (pay|salary) [records]", "fetch tax", []),
        ("fetch", "", []),
        ("fetch it", "fetch", []),
        ("for {period}", "for August 2024", [(3, {"period": "2024-08"})]),
        ("{start:period} to {end:period}", "2024-08 to 2024-09", [(3, {"start": "2024-08", "end": "2024-09"})]),
        ("{period} or {period}", "2024-08 or 2024-08", [(3, {"period": "2024-08"})]),
        ("{period} or {period}", "2024-08 or 2024-09", []),
        ("risk {risk}", "Risk: high", [(3, {"risk": "high"})]),
        ("[all [the]] pay", "pay", [(1, {})]),
        ("{_:period} [{a,b:money}]", "2024-08 £5", [(2, {"a": "5", "b": "GBP"}), (1, {})]),
        ("{all:status*}", "ok, paid", [(3, {"all": ("ok", "paid")})]),
    ],
)
def test_a_phrase_stands_where_its_words_and_values_do(notation: str, text: str, found: list[Any]) -> None:
    assert ends(notation, text) == found


@pytest.mark.parametrize("notation", ["", "[a]", "(a|[b])", "(a", "a)", "a | b", "{a b}", "{}", "[a", "a]"])
def test_a_notation_without_meaning_is_refused(notation: str) -> None:
    with pytest.raises(ProtocolError, match=r"expected words, \{slot\}, \(a\|b\) and \[a\|b\], found") as refusal:
        read_phrase(notation, KINDS)
    assert refusal.value.code == "E1004"


def own(needs: list[str], may: list[str], **fields: str) -> Workflow:
    defaults = {"state": "active"} if "filter" in fields else {}
    step = WorkflowStep(task="FETCH", domain="HR", return_agent="A", fields=fields, defaults=defaults)
    return Workflow(name="own", steps={"s": step}, sayings={"steps": {"s": [{"needs": needs, "may": may}]}})


def test_two_readings_with_other_packets_are_none() -> None:
    one = own(["get", "{supplier:company}"], ["for it"], res="{supplier}")
    other = own(["get", "{supplier:company} for it"], [], type="{supplier}")
    assert str(PatternBook([one, one]).match(read("get 'X' for it"))) == "FETCH|HR|return:A|p:2|aacp:1.1|res:X"
    assert PatternBook([one, other]).match(read("get 'X' for it")) is None


def test_what_no_packet_can_carry_and_what_lacks_an_argument_is_no_reading() -> None:
    book = PatternBook([own(["get"], ["{supplier:company}"], res="{supplier}")])
    assert book.match(read("get 'a|b'")) is None
    assert book.match(read("get")) is None
    assert book.match(read("get 'ab'", domain="FIN")) is None
    assert book.match(read("get 'ab' " + "please, " * MAX_TOKENS)) is None


def test_no_rule_adds_a_filter_that_nobody_said() -> None:
    book = PatternBook([own(["get bills"], ["with status {state:status}"], res="bill", filter="state={state}")])
    assert str(book.match(read("get bills"))) == "FETCH|HR|return:A|p:2|aacp:1.1|res:bill"
    assert "filter:state=paid" in str(book.match(read("get bills with status paid")))
    said = PatternBook(WORKFLOWS).match(read("Fetch the employee salary records for September 2024"))
    assert said is not None
    assert "filter" not in said.fields


@pytest.mark.parametrize(
    ("english", "served"),
    [
        ("Give j.smith VPN access.", True),
        ("Hi there, could you please give j.smith VPN access? Many thanks!", True),
        ("Thank you: give j.smith VPN access", True),
        ("Give j.smith VPN access?", False),
        ("Did you give j.smith VPN access?", False),
        ("Give j.smith VPN access today", False),
        ('Give j.smith "VPN access"', False),
        ("Give VPN access", False),
    ],
)
def test_politeness_is_left_over_and_nothing_else(english: str, served: bool) -> None:
    assert (PatternBook(WORKFLOWS).match(read(english, "IT")) is not None) is served


@pytest.mark.parametrize(
    ("english", "served"),
    [
        ("Give remote j.smith VPN access", True),
        ("Give j.smith VPN access friend", True),
        ("Give j.smith VPN access not", False),
        ("Give j.smith VPN access 5", False),
        ("Give j.smith VPN access Friday", False),
        ("Give j.smith VPN access create", False),
        ("Give j.smith VPN access one two three four", False),
    ],
)
def test_below_a_threshold_of_1_plain_words_may_be_left_over(english: str, served: bool) -> None:
    assert (PatternBook(WORKFLOWS, threshold=0.8).match(read(english, "IT")) is not None) is served


def test_the_work_for_one_text_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MAX_STATES", 3)
    assert PatternBook(WORKFLOWS).match(read("Give j.smith VPN access.", "IT")) is None


def test_a_step_is_encoded_for_the_caller() -> None:
    english = "Fetch the salary records of active employees for August 2024"
    instruction = Instruction(english=english, domain="hr", return_agent="X", priority="3")
    found = PatternBook(WORKFLOWS).match(instruction)
    assert found == PayrollEncoder().fetch_employees("2024-08", return_agent="X", priority=3)


def learned(english: str, packet: str) -> str | None:
    instruction = read(english)
    template = make_template(instruction, read_shape(instruction), parse_packet(packet))
    return template and str(template)


@pytest.mark.parametrize(
    ("english", "values", "template"),
    [
        ("Fetch absences of E-17 for August 2024", "filter:emp=E-17|period:2024-08", "period:{2}|filter:emp={1}"),
        ("Fetch absences on 31 August 2024", "period:2024-08-31", "period:{1}"),
        ("Fetch bills over £4,200 of j.smith", "amt:4200|ccy:GBP|filter:usr=j.smith", "filter:usr={2}|amt:{1}|ccy:GBP"),
        ("Fetch the top 5 bills", "filter:top=5", "filter:top={1}"),
        ("Fetch bills 2024-12 and 12", "filter:n=12|period:2024-12", "period:{1}|filter:n={2}"),
        ("Fetch rules x7_y of E-17", "rules:x7_y|filter:emp=E-17", "filter:emp={1}|rules:x7_y"),
        ("Fetch absences of E-17", "filter:emp=E-170", None),
        ("Fetch absences of E-17", "filter:emp=all", None),
        ("Fetch absences of E-17 and E-17", "filter:emp=E-17", None),
        ("Fetch absences of E-17", "filter:emp=E-17,year=2024", None),
        ("Fetch absences for August 2024", "period:2024-08|subj:absences_august", None),
        ("Fetch absences of E-17", "filter:emp=E-17|subj:{1}", None),
        ("Fetch absences for 2024-08", "period:2024-08|src_prev:2024-07", None),
    ],
)
def test_an_answer_makes_a_template_where_each_value_is_found(english: str, values: str, template: str | None) -> None:
    head = "FETCH|HR|return:A|p:2|aacp:1.1"
    assert learned(english, f"{head}|{values}") == (template and f"{head}|{template}")


def test_a_text_without_values_or_too_long_has_no_shape() -> None:
    assert read_shape(read("Fetch all bills of report.pdf")).key == ""
    assert read_shape(read("word " * (MAX_TOKENS + 1))).key == ""


def test_a_template_is_filled_with_its_values_only() -> None:
    template = Packet(task="FETCH", domain="HR", fields={"return": "{1}", "res": "x", "filter": "a={1},b={2}"})
    assert fill_template(template, ("7", "8")).fields == {"return": "{1}", "res": "x", "filter": "a=7,b=8"}
    for number in (0, 3):
        broken = Packet(task="FETCH", domain="HR", fields={"filter": f"{{{number}}}"})
        with pytest.raises(EncodeError, match="expected slots for 2 values, found"):
            fill_template(broken, ("7", "8"))


@pytest.mark.parametrize(
    ("domain", "english"),
    [
        ("LEGAL", "Raise the fees in section 7 of the SLA with Acme Ltd"),
        ("LEGAL", "Log the review of the NDA with Acme Ltd, risk high, and sign"),
        ("FIN", "Fetch the cost centre budgets for Q3 2026"),
        ("FIN", "Schedule a payment in 30 days of £4,200 to ABC Ltd"),
        ("IT", "Get j.smith's mailbox"),
        ("IT", "Give j.smith access to the mailbox"),
        ("IT", "j.smith can use the VPN"),
        ("HR", "Generate the payroll report for August 2024 with a comparison to last month"),
        ("HR", "Bring the salary data and the budget data and check the payroll against the budgets"),
    ],
)
def test_what_may_mean_another_step_is_left_to_a_model(domain: str, english: str) -> None:
    assert PatternBook(WORKFLOWS).match(read(english, domain)) is None
