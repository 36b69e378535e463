"""Phrases: what is a step, what is nearly one and goes to the model, and what a learned template holds."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from accp_core.aacp import (
    WORKFLOWS,
    FallbackEncoder,
    InstructionRegistry,
    Packet,
    PayrollEncoder,
    Workflow,
    WorkflowStep,
    parse_packet,
)
from accp_core.aacp.instruction import Instruction
from accp_core.aacp.registry import Phrasebook
from accp_core.aacp.templates import MAX_TOKENS, fill_template, make_template, read_shape
from accp_core.errors import EncodeError, ProtocolError
from tests.conformance.vectors import ROOT

STEPS: Final = {f"{flow.name}.{name}": step for flow in WORKFLOWS for name, step in flow.steps.items()}
FILES: Final = ("6.3-wordings", "6.3-fresh-wordings")
BOOK: Final = Phrasebook(WORKFLOWS)


def read(english: str, domain: str = "HR") -> Instruction:
    return Instruction(english=english, domain=domain, return_agent="A")


def load(kind: str) -> list[Mapping[str, Any]]:
    texts = [(ROOT / "aacp" / f"{name}.json").read_text(encoding="utf-8") for name in FILES]
    return [vector for text in texts for vector in json.loads(text)[kind]]


def served(vector: Mapping[str, Any]) -> Packet | None:
    """Return the packet of an instruction, None where the model is asked or the instruction is refused."""
    step = STEPS[vector["step"]]
    options = {"domain": step.domain, "return_agent": step.return_agent, "priority": step.priority}
    try:
        return FallbackEncoder(InstructionRegistry()).encode(vector["text"], **options).packet
    except EncodeError:
        return None


@pytest.mark.requirement("aacp:6.3-2")
def test_an_instruction_gets_the_packet_that_it_means_or_none() -> None:
    steps = set()
    for vector in load("wordings"):
        right = vector.get("packet") or str(STEPS[vector["step"]].encode(vector["arguments"]))
        packet = served(vector)
        assert packet is None or packet == parse_packet(right), vector["text"]
        steps |= {vector["step"]} if packet else set()
    assert len(steps) >= 10, "most steps can be asked for in natural words"


@pytest.mark.requirement("aacp:6.3-2")
def test_what_is_nearly_a_step_is_never_served() -> None:
    vectors = load("near_misses")
    assert len(vectors) >= 250
    assert [vector["text"] for vector in vectors if served(vector)] == []


@pytest.mark.parametrize(
    ("domain", "english", "packet"),
    [
        ("HR", "Pull the salary records of all active employees for August 2024.", "filter:status=active"),
        ("HR", "Fetch the employee salary records for September 2024", "period:2024-09"),
        ("FIN", "Fetch the cost centre budgets for Q3 2026", "period:2026-Q3"),
        ("HR", "Please merge the two datasets and calculate payroll", "MERGE|HR"),
        ("HR", "Generate the payroll report for August 2024 as PDF", "fmt:pdf"),
        ("HR", "Email the payroll report for 2024-08 to fin_director", "to:fin_director"),
        ("IT", "Create an Active Directory account for j.smith", "res:ad_account"),
        ("IT", "Set up a mailbox for j.smith.", "res:m365_mailbox"),
        ("IT", "Give j.smith access to the CRM", "res:salesforce_user"),
        ("IT", "Issue a building badge for j.smith.", "res:badge_access"),
        ("IT", "Log the provisioning of j.smith.", "LOG|IT"),
        ("FIN", "Process the invoice from ABC Ltd for 4200 GBP, purchase order PO-441", "match:PO-441"),
        ("FIN", "Schedule a payment of £4,200 to ABC Ltd.", "amt:4200|ccy:GBP|sup:ABC-Ltd"),
        ("FIN", "Log invoice INV-9921 from ABC Ltd for £4,200.", "filter:inv=INV-9921"),
        ("LEGAL", "Review the NDA with Acme Ltd.", "type:NDA|party:Acme-Ltd"),
        ("LEGAL", "Flag section 7 of the NDA with Acme Ltd for ip_rights", "clause:s7|issue:ip_rights"),
        ("LEGAL", "Log the review of the NDA with Acme Ltd with high risk and recommendation negotiate", "risk:high"),
    ],
)
def test_each_step_can_be_asked_for(domain: str, english: str, packet: str) -> None:
    assert packet in str(BOOK.match(read(english, domain)))


def test_a_step_is_encoded_for_the_caller() -> None:
    english = "Fetch the salary records of active employees for August 2024"
    instruction = Instruction(english=english, domain="hr", return_agent="X", priority="3")
    assert BOOK.match(instruction) == PayrollEncoder().fetch_employees("2024-08", return_agent="X", priority=3)


@pytest.mark.parametrize(
    ("english", "is_served"),
    [
        ("Give j.smith VPN access.", True),
        ("Could you please give j.smith VPN access?", True),
        ("Give j.smith VPN access?", False),
        ("Did you give j.smith VPN access?", False),
        ("Do not give j.smith VPN access", False),
        ("Give j.smith VPN access today", False),
        ('Give j.smith "VPN access"', False),
        ("Give nobody VPN access", False),
        ("Give j.smith@co.com VPN access", False),
        ("Give VPN access", False),
        ("Give j.smith VPN access " + "please " * MAX_TOKENS + "now", False),
    ],
)
def test_politeness_is_left_over_and_nothing_else(english: str, is_served: bool) -> None:
    assert (BOOK.match(read(english, "IT")) is not None) is is_served


def own(phrase: str, **fields: str) -> Workflow:
    step = WorkflowStep(task="FETCH", domain="HR", return_agent="A", fields=fields, phrases=(phrase,))
    return Workflow(name="own", steps={"s": step})


def test_two_readings_with_other_packets_are_none() -> None:
    one, other = own("get {x} [now]", res="{x}"), own("get {x} now", type="{x}")
    assert str(Phrasebook([one, one]).match(read("get 'X' now"))) == "FETCH|HR|return:A|p:2|aacp:1.1|res:X"
    assert Phrasebook([one, other]).match(read("get 'X' now")) is None
    assert Phrasebook([one]).match(read("get 'X' now", domain="FIN")) is None


@pytest.mark.parametrize("phrase", ["get (a {x}", "get {x:nothing}", "get {x} a)"])
def test_a_phrase_without_meaning_is_refused(phrase: str) -> None:
    with pytest.raises(ProtocolError, match="E1004: phrase"):
        Phrasebook([own(phrase, res="{x}")])


HEAD = "FETCH|HR|return:A|p:2|aacp:1.1"


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
    instruction = read(english)
    made = make_template(instruction, read_shape(instruction), parse_packet(f"{HEAD}|{values}"))
    assert (made and str(made)) == (template and f"{HEAD}|{template}")


SHAPES: Final = (
    ("for August, 2024", ("2024-08",)),
    ("for Sept. 2024", ("2024-09",)),
    ("for 08/2024", ("2024-08",)),
    ("for 2024-Q3 and Q4 2024", ("2024-Q3", "2024-Q4")),
    ("on August 31, 2024", ("2024-08-31",)),
    ("on 31st August 2024", ("2024-08-31",)),
    ("on 31 June 2024", ("31", "2024-06")),
    ("over GBP 4200.50", ("4200.50",)),
    ("over 4,200 pounds sterling", ("4200",)),
    ("over £4,200 GBP", ("4200",)),
    ("over eur50", ("50",)),
    ("of $500 CAD", ()),
    ("of (£500)", ()),
    ("in report.pdf", ()),
    ("of (j.smith's) 'mail-box'", ("j.smith",)),
)


@pytest.mark.parametrize(("words", "values"), SHAPES)
def test_the_values_of_a_shape_are_those_of_a_packet(words: str, values: tuple[str, ...]) -> None:
    assert read_shape(read(f"Fetch the bills {words}")).values == values


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
