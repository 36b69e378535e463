"""Six agents over files: each is a function of a packet and of earlier results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from payroll import REPORT, RULES, SLIP, Row, calculate, parse_rows, read_rows, report, write_rows

from accp_core.aacp import Packet
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

Results: TypeAlias = Mapping[str, str]
"""The text of each result, by name."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """The folders of the agents."""

    data: Path
    """Where they read data."""
    out: Path
    """Where they write documents."""

    def perform(self, packet: Packet, results: Results) -> tuple[str, str]:
        """Return name and text of the result of a valid packet.

        Raises:
            ProtocolError: E4001, no agent performs such packets; or what the agent raises.
        """
        return PERFORM[agent_of(packet)](self, packet, results)

    def write(self, name: str, text: str) -> str:
        """Write a document, and return its text."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / name).write_text(text, encoding="utf-8", newline="")
        return text


AGENTS: Final[Mapping[tuple[str, str], str]] = {
    ("FETCH", "HR"): "HRMS",
    ("FETCH", "FIN"): "FIN",
    ("MERGE", "HR"): "PAY",
    ("REPORT", "HR"): "RPT",
    ("LOG", "HR"): "AUD",
    ("SEND", "HR"): "MAIL",
}
"""The agent for each TASK and DOM."""


def agent_of(packet: Packet) -> str:
    """Return the agent that performs a packet."""
    try:
        return AGENTS[packet.task, packet.domain]
    except KeyError:
        raise ProtocolError(
            f"expected a packet that an agent performs, found {packet.task}|{packet.domain}",
            code=ErrorCode.TOOL_NOT_FOUND,
        ) from None


def field(packet: Packet, key: str) -> str:
    """Return a field that the agent needs."""
    try:
        return packet.fields[key]
    except KeyError:
        raise ProtocolError(f"{packet.task}: expected {key}, found nothing", code=ErrorCode.INVALID_TYPE) from None


def month(packet: Packet, key: str = "period") -> str:
    """Return a month, which names a folder and cannot lead out of it."""
    name = field(packet, key)
    if not name.replace("-", "").isalnum():
        raise ProtocolError(f"{key}: expected letters, digits and '-', found {name!r}", code=ErrorCode.INVALID_TYPE)
    return name


def result(results: Results, name: str) -> str:
    """Return an earlier result."""
    if name not in results:
        raise ProtocolError(f"expected the result {name!r}, found none yet", code=ErrorCode.REF_NOT_FOUND)
    return results[name]


def select_rows(rows: list[dict[str, str]], packet: Packet) -> str:
    """Return the rows that match the packet's filter, with the fields that it names, as JSON."""
    if field(packet, "fmt") != "json":
        raise ProtocolError(f"fmt: expected json, found {packet.fields['fmt']!r}", code=ErrorCode.INVALID_TYPE)
    known = list(rows[0]) if rows else []
    key, equals, wanted = packet.fields.get("filter", "").partition("=")
    fields = packet.fields["fields"].split(",") if "fields" in packet.fields else known
    if unknown := {*fields, *([key] if equals else [])} - set(known):
        reason = f"expected fields of {', '.join(known)}; found {', '.join(sorted(unknown))}"
        raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
    matching = [row for row in rows if not equals or row[key] == wanted]
    return json.dumps([{name: row[name] for name in fields} for row in matching])


def hrms(place: Workplace, packet: Packet, results: Results) -> tuple[str, str]:
    """FETCH|HR: salary records of a period."""
    return "emp_salary", select_rows(read_rows(place.data / month(packet) / "employees.csv"), packet)


def finance(place: Workplace, packet: Packet, results: Results) -> tuple[str, str]:
    """FETCH|FIN: budgets by cost centre."""
    return "budget_cc", select_rows(read_rows(place.data / month(packet) / "budgets.csv"), packet)


def payroll(place: Workplace, packet: Packet, results: Results) -> tuple[str, str]:
    """MERGE|HR: pay slips by the named rules, checked against the named budgets."""
    name = field(packet, "rules")
    if name not in RULES:
        raise ProtocolError(f"rules: expected one of {', '.join(RULES)}, found {name!r}", code=ErrorCode.INVALID_TYPE)
    budgets = json.loads(result(results, field(packet, "validate")))
    slips = calculate(json.loads(result(results, "emp_salary")), budgets, RULES[name])
    return "payroll", place.write(f"payroll_{month(packet)}.csv", write_rows(slips, SLIP))


def reporting(place: Workplace, packet: Packet, results: Results) -> tuple[str, str]:
    """REPORT|HR: totals by department, compared with the previous month where the packet names it."""
    if (formats := field(packet, "fmt")) != "csv":
        raise ProtocolError(f"fmt: expected csv, found {formats!r}", code=ErrorCode.INVALID_TYPE)
    before: list[Row] = []
    if "src_prev" in packet.fields:
        before = list(read_rows(place.data / month(packet, "src_prev") / "payroll.csv"))
    lines = report(parse_rows(result(results, "payroll")), before)
    return "report", place.write(f"report_{month(packet)}.csv", write_rows(lines, REPORT))


def audit(place: Workplace, packet: Packet, results: Results) -> tuple[str, str]:
    """LOG|HR: the outcome of the run, for its auditors."""
    record = {name: field(packet, name) for name in ("period", "status", "actor", "chain")}
    return "run", place.write(f"run_{month(packet)}.json", json.dumps(record, indent=1) + "\n")


def mail(place: Workplace, packet: Packet, results: Results) -> tuple[str, str]:
    """SEND|HR: a letter in the output folder, with the report that its attachment names."""
    letter = {name: field(packet, name) for name in ("to", "subj", "att", "flag_msg")}
    text = json.dumps({**letter, "text": result(results, "report")}, indent=1) + "\n"
    return "letter", place.write(f"letter_{letter['subj']}.json", text)


PERFORM: Final[Mapping[str, Callable[[Workplace, Packet, Results], tuple[str, str]]]] = {
    "HRMS": hrms,
    "FIN": finance,
    "PAY": payroll,
    "RPT": reporting,
    "AUD": audit,
    "MAIL": mail,
}
