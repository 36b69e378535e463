"""AACP: instructions served without a model, tokens against English and JSON.

The natural wordings and near-misses are those of the vectors of section 6.3. Rules were made with the half "tuned" in
view; the half "held_out" judges them.
The English texts are those of the draft's own benchmark (section 10), which counts a whole chat message; o200k_base
plus 7 gives its GPT-4o column. The draft's packet of the second hop is not the one that its encoder gives, and packets
hold less than the prose, so the tables also have the encoder's packets, terse English and compact JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rich.console import Console

from accp_adapters.tokens import o200k_base
from accp_core.aacp import (
    EncodingTier,
    FallbackEncoder,
    InstructionRegistry,
    Packet,
    PayrollEncoder,
)
from accp_core.strict_json import compact_json
from tests.core.aacp.wordings import FRESH, HALVES, encode, expected, load_wordings, outcome

__all__ = ["HOPS", "main", "totals"]

ENVELOPE: Final = 7
"""Tokens of GPT-4o's chat format around one user message."""


class Hop(NamedTuple):
    """One instruction in four forms."""

    english: str
    """The draft's prose."""
    terse: str
    """The same in few words."""
    draft: str
    """The packet that the draft counts."""
    ours: Packet
    """The packet that the workflow's encoder gives."""
    known: Packet | None = None
    """The same to an agent whose default fields are known (section 4.2); None: there are none to leave out."""


PAYROLL: Final = PayrollEncoder()
HOPS: Final[tuple[Hop, ...]] = (
    Hop(
        "Please retrieve the employee salary records for the period ending 31 August 2024. I need all active "
        "employees, their departments, cost centres, base salary, any changes made this month, and pension "
        "contribution rates. Return as JSON array.",
        "HR-Agent: fetch active employee salary records, 2024-08, as JSON, priority 1",
        "FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json",
        PAYROLL.fetch_employees("2024-08"),
    ),
    Hop(
        "I now have the payroll data from HRMS. I need you to provide the budget allocations by cost centre so I can "
        "verify that payroll costs fall within approved budgets before we proceed. Please include year-to-date spend.",
        "HR-Agent: fetch cost centre budgets and YTD spend, 2024-08, as JSON, priority 1",
        "FETCH|FIN|return:HR-Agent|p:1|aacp:1.1|res:budget_cc|period:2024-08|fmt:json",
        PAYROLL.fetch_budgets("2024-08"),
        PAYROLL.fetch_budgets("2024-08", fields=None),
    ),
    Hop(
        "I have both employee salary data and budget allocations. Please merge these datasets, apply pension "
        "contribution rates, calculate net pay for all employees, apply PAYE deductions, validate totals against "
        "approved budgets, and flag any anomalies. Use payroll rules version 2.",
        "HR-Agent: merge, apply payroll rules v2, validate against cost centre budgets, priority 1",
        "MERGE|HR|return:HR-Agent|p:1|aacp:1.1|rules:payroll_v2|validate:budget_cc",
        PAYROLL.merge_and_calculate(),
    ),
    Hop(
        "Payroll calculation is complete. Please generate the monthly payroll report using the standard payroll "
        "monthly template. Include a summary page, department breakdown, anomaly flags, and produce it in both PDF "
        "format for distribution and Excel format for Finance. Include comparison to last month.",
        "HR-Agent: generate PDF and Excel report, highlight REVIEW_REQ, priority 2",
        "REPORT|HR|return:HR-Agent|p:2|aacp:1.1|fmt:pdf,xlsx|highlight:REVIEW_REQ",
        PAYROLL.generate_report(),
    ),
)


THRESHOLDS: Final = (1.0, 0.95, 0.9, 0.85, 0.8)
"""Shares of an instruction's words that a pattern must have."""


def print_served(console: Console) -> None:
    """Print what is served without a model at each threshold, and what is missed at the default."""
    console.print(f"{'half':<10}{'threshold':>10}{'served':>12}{'wrong':>8}{'model':>8}{'near-misses taken':>20}")
    for half in (*HALVES, FRESH):
        for threshold in THRESHOLDS:
            found = outcome(half, threshold)
            share = f"{found.served} of {found.wordings}"
            taken = f"{len(found.taken)} of {found.near_misses}"
            row = f"{half:<10}{threshold:>10.2f}{share:>12}{len(found.wrong):>8}{len(found.missed):>8}{taken:>20}"
            console.print(row)
    for half in (*HALVES, FRESH):
        console.print(f"missed, {half}:")
        for text in outcome(half).missed:
            console.print(f"  {text}", markup=False, highlight=False)


class Tiers(NamedTuple):
    """How instructions were served when each wording was asked for three times, the third time politely."""

    counts: Mapping[EncodingTier, int]
    """Instructions by tier."""
    model_calls: int
    """Calls of the model."""


def serve_thrice(half: str) -> Tiers:
    """Ask for each natural wording three times, with a model that gives the right packet, and count the tiers."""
    calls = 0
    right = {vector["text"]: str(expected(vector)) for vector in load_wordings("wordings", half)}

    def model(instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        nonlocal calls
        calls += 1
        return right[instruction.removeprefix("Please ")]

    tiers: Counter[EncodingTier] = Counter()
    encoder = FallbackEncoder(InstructionRegistry(), model, observe=lambda found: tiers.update([found.tier]))
    for vector in load_wordings("wordings", half):
        for text in (vector["text"], vector["text"], f"Please {vector['text']}"):
            encode(encoder, {**vector, "text": text})
    return Tiers(tiers, calls)


def print_tiers(console: Console) -> None:
    """Print how often each tier serves an instruction that comes three times, the third time politely."""
    for half in HALVES:
        tiers, calls = serve_thrice(half)
        parts = ", ".join(f"{tier.value} {tiers.get(tier, 0)}" for tier in EncodingTier)
        console.print(f"{half}: each wording three times: {parts}; model calls {calls}")


def packet_json(packet: Packet) -> str:
    """Return the packet as compact JSON, without the version, which such an object would not have."""
    fields = {key: value for key, value in packet.fields.items() if key != "aacp"}
    return compact_json({"task": packet.task, "dom": packet.domain, **fields})


COLUMNS: Final[dict[str, Callable[[Hop], str]]] = {
    "draft's English": lambda hop: hop.english,
    "draft's packet": lambda hop: hop.draft,
    "encoder's packet": lambda hop: str(hop.ours),
    "its defaults known": lambda hop: str(hop.known or hop.ours),
    "compact JSON of it": lambda hop: packet_json(hop.ours),
    "terse English": lambda hop: hop.terse,
}


def totals() -> dict[str, list[int]]:
    """Return the tokens of each hop and, at the end, of all hops, for each form."""
    count = o200k_base()
    counts = {name: [count(write(hop)) for hop in HOPS] for name, write in COLUMNS.items()}
    return {name: [*tokens, sum(tokens)] for name, tokens in counts.items()}


def print_tokens(console: Console) -> None:
    """Print the table of tokens."""
    counts_by_form = totals()
    english, with_envelope = (
        counts_by_form["draft's English"][-1],
        counts_by_form["draft's English"][-1] + ENVELOPE * len(HOPS),
    )
    hops = f"{'hop 1':>8}{'2':>6}{'3':>6}{'4':>6}{'all':>8}"
    console.print(f"{'tokens (o200k_base)':<22}{hops}{'saved':>9}{'+7 each':>10}{'saved':>9}")
    for name, counts in counts_by_form.items():
        total = counts[-1]
        sent = total + ENVELOPE * len(HOPS)
        hops = f"{counts[0]:>8}" + "".join(f"{number:>6}" for number in counts[1:-1])
        saved = f"{100 * (1 - total / english):>8.1f}%{sent:>10}{100 * (1 - sent / with_envelope):>8.1f}%"
        console.print(f"{name:<22}{hops}{total:>8}{saved}")


def main(console: Console | None = None) -> None:
    """Print all tables."""
    console = console or Console(width=120)
    console.print("[bold]AACP: instructions in natural words[/bold]")
    print_served(console)
    print_tiers(console)
    console.print("\n[bold]AACP: four hops of the draft's payroll[/bold]")
    print_tokens(console)
    console.print("The packets hold less than the prose; the terse English holds the same as the packets.\n")


if __name__ == "__main__":
    main()
