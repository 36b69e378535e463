"""Who does what a packet says: six agents over files, each a function of the packet and of earlier results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from payroll import REPORT, RULES, SLIP, Row, calculate, parse_rows, read_rows, report, write_rows

from accp_core.aacp import Packet
from accp_core.errors import ProtocolError

Results: TypeAlias = Mapping[str, str]
"""Name of a result to its text."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the agents find data and leave documents."""

    data: Path
    out: Path

    def perform(self, packet: Packet, results: Results) -> tuple[str, str]:
        """Return name and text of what comes of a valid packet.

        Raises: ProtocolError E4001 for what no agent here does, and what the agents raise.
        """
        return DOING[agent_of(packet)](self, packet, results)

    def leave(self, name: str, text: str) -> str:
        """Leave a document, and return its text."""
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
"""TASK and DOM to the agent that is asked."""


def agent_of(packet: Packet) -> str:
    """Return the agent that does what a packet says."""
    try:
        return AGENTS[packet.task, packet.domain]
    except KeyError:
        raise ProtocolError(f"no agent for {packet.task} in {packet.domain}", code="E4001") from None


def field(packet: Packet, key: str) -> str:
    """Return a field that the agent cannot do without."""
    try:
        return packet.fields[key]
    except KeyError:
        raise ProtocolError(f"{packet.task} needs {key}", code="E1004") from None


def month(packet: Packet, key: str = "period") -> str:
    """Return a month, which names a folder and leads nowhere else."""
    name = field(packet, key)
    if not name.replace("-", "").isalnum():
        raise ProtocolError(f"{key}: expected letters, digits and '-', found {name!r}", code="E1004")
    return name


def result(results: Results, name: str) -> str:
    """Return an earlier result."""
    if name not in results:
        raise ProtocolError(f"{name} has not been fetched", code="E2001")
    return results[name]


def fetched(rows: list[dict[str, str]], packet: Packet) -> str:
    """Return the rows that the packet's filter lets through, with the fields that it names, as JSON."""
    if field(packet, "fmt") != "json":
        raise ProtocolError(f"fmt: this agent writes json, not {packet.fields['fmt']!r}", code="E1004")
    known = list(rows[0]) if rows else []
    key, equals, wanted = packet.fields.get("filter", "").partition("=")
    fields = packet.fields["fields"].split(",") if "fields" in packet.fields else known
    if unknown := {*fields, *([key] if equals else [])} - set(known):
        raise ProtocolError(f"no such field: {', '.join(sorted(unknown))}; there are {', '.join(known)}", code="E1004")
    found = [row for row in rows if not equals or row[key] == wanted]
    return json.dumps([{name: row[name] for name in fields} for row in found])


def hrms(desk: Desk, packet: Packet, results: Results) -> tuple[str, str]:
    """FETCH|HR: salary records of a period."""
    return "emp_salary", fetched(read_rows(desk.data / month(packet) / "employees.csv"), packet)


def finance(desk: Desk, packet: Packet, results: Results) -> tuple[str, str]:
    """FETCH|FIN: budgets by cost centre."""
    return "budget_cc", fetched(read_rows(desk.data / month(packet) / "budgets.csv"), packet)


def payroll(desk: Desk, packet: Packet, results: Results) -> tuple[str, str]:
    """MERGE|HR: pay slips by the named rules, checked against the named budgets."""
    name = field(packet, "rules")
    if name not in RULES:
        raise ProtocolError(f"rules: expected one of {', '.join(RULES)}, found {name!r}", code="E1004")
    budgets = json.loads(result(results, field(packet, "validate")))
    slips = calculate(json.loads(result(results, "emp_salary")), budgets, RULES[name])
    return "payroll", desk.leave(f"payroll_{month(packet)}.csv", write_rows(slips, SLIP))


def reporting(desk: Desk, packet: Packet, results: Results) -> tuple[str, str]:
    """REPORT|HR: totals by department, beside the month before where the packet names it."""
    if (formats := field(packet, "fmt")) != "csv":
        raise ProtocolError(f"fmt: this agent writes csv, not {formats!r}", code="E1004")
    before: list[Row] = []
    if "src_prev" in packet.fields:
        before = list(read_rows(desk.data / month(packet, "src_prev") / "payroll.csv"))
    lines = report(parse_rows(result(results, "payroll")), before)
    return "report", desk.leave(f"report_{month(packet)}.csv", write_rows(lines, REPORT))


def audit(desk: Desk, packet: Packet, results: Results) -> tuple[str, str]:
    """LOG|HR: what the run came to, for those who audit it."""
    record = {name: field(packet, name) for name in ("period", "status", "actor", "chain")}
    return "run", desk.leave(f"run_{month(packet)}.json", json.dumps(record, indent=1) + "\n")


def mail(desk: Desk, packet: Packet, results: Results) -> tuple[str, str]:
    """SEND|HR: a letter in the outbox, with the report that the attachment points at."""
    letter = {name: field(packet, name) for name in ("to", "subj", "att", "flag_msg")}
    text = json.dumps({**letter, "text": result(results, "report")}, indent=1) + "\n"
    return "letter", desk.leave(f"letter_{letter['subj']}.json", text)


DOING: Final[Mapping[str, Callable[[Desk, Packet, Results], tuple[str, str]]]] = {
    "HRMS": hrms,
    "FIN": finance,
    "PAY": payroll,
    "RPT": reporting,
    "AUD": audit,
    "MAIL": mail,
}
