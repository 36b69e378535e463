"""Workflows of one's own: tables that are checked before they are used."""

import tomllib
from typing import Any

import pytest

from accp_core.aacp import (
    DRAFT_VOCABULARY,
    WORKFLOWS,
    ITEncoder,
    PayrollEncoder,
    WorkflowEncoder,
    WorkflowRun,
    WorkflowStep,
    workflow_from_dict,
)
from accp_core.errors import EncodeError, ProtocolError

CLOSE = """
name = "month_end"

[steps.fetch_rates]
task = "FETCH"
domain = "FIN"
return = "FIN-Agent"
priority = 1
phrases = ["fetch the exchange rates of {period}"]
[steps.fetch_rates.fields]
res = "fx_rates"
period = "{period}"
fields = ["pair", "rate"]
org_ticket = "FX-{period!snake}"

[steps.report]
task = "REPORT"
domain = "FIN"
return = "CFO-Agent"
[steps.report.fields]
fmt = "{formats}"
tmpl = "{template}"
[steps.report.defaults]
formats = ["csv"]
template = ""

[run]
fetch_rates = ["period"]
report = ["formats"]
"""


def step(**changes: Any) -> dict[str, Any]:
    return {"task": "FETCH", "domain": "HR", "return": "A", **changes}


def workflow(**changes: Any) -> dict[str, Any]:
    return {"name": "own", "steps": {"s": step(**changes)}}


def test_a_table_gives_steps_and_a_run() -> None:
    own = workflow_from_dict(tomllib.loads(CLOSE))
    assert own.name == "month_end"
    assert own.run is not None
    assert [str(packet) for packet in own.run(period="2024-08")] == [
        "FETCH|FIN|return:FIN-Agent|p:1|aacp:1.1|res:fx_rates|period:2024-08|fields:pair,rate|org_ticket:FX-2024_08",
        "REPORT|FIN|return:CFO-Agent|p:2|aacp:1.1|fmt:csv",
    ]
    assert str(own.steps["report"](["pdf", "csv"], "short", return_agent="B", priority=3)) == (
        "REPORT|FIN|return:B|p:3|aacp:1.1|fmt:pdf,csv|tmpl:short"
    )


def test_arguments_may_be_given_in_order() -> None:
    assert PayrollEncoder().fetch_employees("2024-08") == PayrollEncoder().fetch_employees(period="2024-08")
    assert PayrollEncoder.fetch_employees.usage() == "period [fields] [status]"
    assert len(PayrollEncoder().full_run("2024-08", "2024-07", ["late"])) == 6
    assert PayrollEncoder().full_run.parameters == ("period", "prev_period", "flags", "fields")
    assert len(ITEncoder().full_onboarding("j.smith", "dir://users/j.smith/mail", "Sales")) == 6
    with pytest.raises(ProtocolError, match="order: expected arguments of the hops, found when"):
        WorkflowRun((PayrollEncoder.fetch_budgets, "period"), order="when period")


@pytest.mark.requirement("aacp:15-7")
def test_personal_data_is_passed_by_its_address_only() -> None:
    with pytest.raises(EncodeError, match="email: expected the address of the data") as refusal:
        ITEncoder().full_onboarding("j.smith", "j.smith@co.com", "Sales")
    assert refusal.value.code == "E1004"
    assert "co.com" not in str(refusal.value)
    with pytest.raises(EncodeError, match="expected the address of the data, such as"):
        ITEncoder().provision_email("j.smith", "the directory")


def test_a_table_may_say_which_arguments_are_addresses() -> None:
    own = workflow_from_dict(workflow(fields={"data_ptr": "{mail}"}, pointers=["mail"]))
    assert own.steps["s"]("dir://users/17").fields["data_ptr"] == "dir://users/17"
    with pytest.raises(ProtocolError, match="expected arguments of a template, found phone"):
        workflow_from_dict(workflow(fields={"data_ptr": "{mail}"}, pointers=["phone"]))


@pytest.mark.parametrize(
    ("values", "named", "reason"),
    [
        (("a", "b", "c", "d"), {}, "at most 3 values"),
        (("a",), {"period": "b"}, "once, found 'period'"),
        ((), {"when": "b"}, "each of period, fields, status, return_agent, priority once, found 'when'"),
        ((), {}, r"expected period \[fields\] \[status\], found nothing"),
    ],
)
def test_an_argument_without_place_is_refused(values: Any, named: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        PayrollEncoder().fetch_employees(*values, **named)


def test_a_place_within_text_is_for_one_value() -> None:
    with pytest.raises(EncodeError, match="period: expected text or a number"):
        PayrollEncoder().send_report(period=["a", "b"])


def test_a_workflow_without_hops_in_order_has_no_run() -> None:
    assert workflow_from_dict(workflow()).run is None
    assert [each.name for each in WORKFLOWS if each.run is None] == ["invoice", "contract"]

    class Own(WorkflowEncoder, name="own"):
        """One step."""

        only = WorkflowStep(task="ACK", domain="HR", return_agent="A")

    assert Own.workflow.steps == {"only": Own.only}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "expected a table of name, steps"),
        ({"name": "own"}, r"expected a table of name, steps and optionally run, found \['name'\]"),
        ({**workflow(), "color": 1}, "color"),
        ({"name": "own", "steps": {}}, "expected a workflow with a name and steps"),
        ({"name": "", "steps": {"s": step()}}, "expected a workflow with a name and steps"),
        ({"name": 1, "steps": {}}, "name: expected another type, found 1"),
        ({"name": "own", "steps": {"s": 3}}, "steps.s: step: expected a table of task, domain, return .* found 3"),
        (workflow(priority=9), "steps.s: priority: expected one of 1, 2, 3, found '9'"),
        (workflow(priority=True), "steps.s: priority: expected another type, found True"),
        (workflow(fields={"color": "red"}), "steps.s: expected a key of a packet that is not reserved, found 'color'"),
        (workflow(fields={"res": 3}), "steps.s: res: expected text, found 3"),
        (workflow(fields={"fields": ["a,b"]}), "steps.s: fields: expected an item"),
        (workflow(fields={"res": "{"}), "steps.s: res: expected placeholders"),
        (workflow(fields={"res": "{a!upper}"}), "steps.s: res: expected placeholders"),
        (workflow(fields={"res": "a|b"}), "steps.s: res: "),
        (workflow(fields={"return": "B"}), "steps.s: expected each argument once and known, found 'return'"),
        (workflow(fields={"res": "{priority}"}), "steps.s: expected arguments of a template, found priority"),
        (workflow(defaults={"x": "1"}), "steps.s: expected arguments of a template, found x"),
        (workflow(fields={"res": "{x}"}, defaults={"x": True}), "defaults.x: expected text, a number or a list"),
        (workflow(fields={"res": "{x}"}, defaults={"x": [{}]}), "defaults.x: expected text, a number or a list"),
        (workflow(fields={"res": "{x}"}, phrases=["fetch it"]), "phrase 'fetch it': expected placeholders for x"),
        (workflow(phrases=["fetch {y}"]), "phrase 'fetch {y}': expected placeholders for nothing"),
        (workflow(fields={"res": "{x}"}, phrases=["fetch E-{x}"]), "expected each placeholder to be a word"),
        (workflow(phrases=[3]), "phrases: expected text, found 3"),
        ({**workflow(), "run": {"t": []}}, "run.t: expected a step"),
        ({**workflow(), "run": {"s": [3]}}, "run.s: expected a step"),
        ({**workflow(), "run": {"s": "period"}}, "run.s: expected a step"),
        ({**workflow(), "run": {"s": ["period"]}}, "FETCH: expected nothing, found period"),
        ({**workflow(fields={"res": "{x}"}), "run": {"s": []}}, "FETCH: expected x, found nothing"),
    ],
)
def test_a_table_that_could_give_no_packet_is_refused_where_it_is_wrong(data: Any, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as refusal:
        workflow_from_dict(data)
    assert refusal.value.code == "E1004"


@pytest.mark.parametrize("name", ["task", "domain", "return_agent", "priority", "vocabulary"])
def test_a_key_of_one_s_own_is_no_argument_of_the_encoder(name: str) -> None:
    with pytest.raises(ProtocolError, match=f"a key of a packet that is not reserved, found '{name}'"):
        workflow_from_dict(workflow(fields={name: "x"}), vocabulary=DRAFT_VOCABULARY.adding(keys=[name]))


def test_hops_are_checked() -> None:
    with pytest.raises(ProtocolError, match=r"FETCH: expected period \[fields\] \[status\], found nothing"):
        WorkflowRun((PayrollEncoder.fetch_employees, ""))
