"""Pay slips, budgets and a report from rows of CSV, with exact decimals and one table of rules."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Final, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

Row: TypeAlias = Mapping[str, str]

PENNY: Final = Decimal("0.01")
SLIP: Final = ("emp_id", "dept", "cc_id", "gross", "pension", "paye", "net", "flag")
REPORT: Final = ("dept", "employees", "gross", "pension", "paye", "net", "net_before", "change", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How gross pay becomes net pay: the pension first, then tax on the rest in monthly bands."""

    bands: tuple[tuple[Decimal, Decimal], ...]
    """The end of each band, a monthly amount, and its tax rate; the last band has no end."""


RULES: Final = {
    "payroll_v2": Rules(
        bands=(
            (Decimal("1047.50"), Decimal("0")),
            (Decimal("4189.17"), Decimal("0.20")),
            (Decimal("10428.33"), Decimal("0.40")),
            (Decimal("Infinity"), Decimal("0.45")),
        )
    )
}
"""Income tax only; the further rules of a real payroll belong here."""


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file.

    Raises:
        ProtocolError: E2001, there is no such file; E1004, a row has more or fewer cells than the header.
    """
    if not path.is_file():
        raise ProtocolError(f"expected the file {path}, found none", code=ErrorCode.REF_NOT_FOUND)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            reason = f"{path}:{number}: expected as many cells as the header has"
            raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
    return rows


def write_rows(rows: Iterable[Row], fields: Sequence[str]) -> str:
    """Return the CSV text of rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def parse_rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV text."""
    return list(csv.DictReader(io.StringIO(text)))


def money(row: Row, field: str) -> Decimal:
    """Return an amount.

    Raises:
        ProtocolError: E1004, the value is not an amount; with the row.
    """
    try:
        amount = Decimal(row[field])
    except (InvalidOperation, KeyError):
        amount = Decimal("NaN")
    if not amount.is_finite():
        reason = f"{field}: expected an amount, found {row.get(field)!r} in {dict(row)!r}"
        raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
    return amount


def rounded(amount: Decimal) -> Decimal:
    """Return an amount in whole pennies."""
    return amount.quantize(PENNY, ROUND_HALF_UP)


def tax(amount: Decimal, rules: Rules) -> Decimal:
    """Return the income tax on a month's pay."""
    due, below = Decimal(0), Decimal(0)
    for end, rate in rules.bands:
        due += (min(amount, end) - below) * rate if amount > below else 0
        below = end
    return rounded(due)


def pay_slip(row: Row, rules: Rules) -> dict[str, str]:
    """Return the pay slip of one employee."""
    gross = rounded(money(row, "base_salary") + money(row, "delta"))
    pension = rounded(gross * money(row, "pension_rate") / 100)
    paye = tax(gross - pension, rules)
    amounts = {"gross": gross, "pension": pension, "paye": paye, "net": gross - pension - paye}
    return {**row, **{name: str(amount) for name, amount in amounts.items()}}


def calculate(employees: Iterable[Row], budgets: Iterable[Row], rules: Rules) -> list[dict[str, str]]:
    """Return the pay slips; those of a cost centre that exceeds its budget or has none get a flag."""
    slips = [pay_slip(row, rules) for row in employees]
    left = {row["cc_id"]: money(row, "approved_budget") - money(row, "ytd_spend") for row in budgets}
    for slip in slips:
        if slip["cc_id"] in left:
            left[slip["cc_id"]] -= money(slip, "gross")
    flags = {centre: "over_budget" if rest < 0 else "" for centre, rest in left.items()}
    return [{**slip, "flag": flags.get(slip["cc_id"], "no_budget")} for slip in slips]


def report(slips: Sequence[Row], before: Sequence[Row]) -> list[dict[str, str]]:
    """Return the totals of each department and of all departments, compared with the previous month."""
    departments = list(dict.fromkeys(slip["dept"] for slip in slips))
    lines = [totals(name, slips, before) for name in departments]
    return [*lines, totals("", slips, before)]


def totals(department: str, slips: Sequence[Row], before: Sequence[Row]) -> dict[str, str]:
    """Return one line of the report; the department "" stands for all."""
    own = [slip for slip in slips if department in ("", slip["dept"])]
    net_before = sum((money(slip, "net") for slip in before if department in ("", slip["dept"])), Decimal(0))
    sums = {name: sum((money(slip, name) for slip in own), Decimal(0)) for name in ("gross", "pension", "paye", "net")}
    flags = sorted({slip["flag"] for slip in own} - {""})
    return {
        "dept": department or "total",
        "employees": str(len(own)),
        **{name: str(amount) for name, amount in sums.items()},
        "net_before": str(net_before) if before else "",
        "change": str(sums["net"] - net_before) if before else "",
        "flags": " ".join(flags),
    }
