"""Start the payroll as a user does, and check its documents: exit code 0 if all are right."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from accp_core.aacp import validate
from accp_core.aacp.audit import read_record

HERE = Path(__file__).resolve().parent


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run app.py."""
    return subprocess.run([sys.executable, str(HERE / "app.py"), *arguments], capture_output=True, text=True)


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_run(data: Path, out: Path) -> None:
    """Do a run and compare its documents with the data."""
    done = start("--previous", "2024-07", "--data", str(data), "--out", str(out))
    assert done.returncode == 0, done.stderr
    slips, report = rows(out / "payroll_2024-08.csv"), rows(out / "report_2024-08.csv")
    active = [row for row in rows(data / "2024-08" / "employees.csv") if row["status"] == "active"]
    assert [slip["emp_id"] for slip in slips] == [row["emp_id"] for row in active]
    for slip, row in zip(slips, active, strict=True):
        assert Decimal(slip["gross"]) == Decimal(row["base_salary"]) + Decimal(row["delta"])
        assert Decimal(slip["gross"]) == sum(Decimal(slip[name]) for name in ("pension", "paye", "net"))
    *departments, total = report
    for name in ("gross", "pension", "paye", "net", "employees", "change"):
        assert sum(Decimal(line[name]) for line in departments) == Decimal(total[name]), name
    assert Decimal(total["net"]) == sum(Decimal(slip["net"]) for slip in slips)
    assert {slip["cc_id"] for slip in slips if slip["flag"] == "over_budget"} == {"CC-200"}
    assert json.loads((out / "run_2024-08.json").read_text(encoding="utf-8"))["status"] == "review_required"
    assert (out / "letter_payroll_2024_08_REVIEW_REQ.json").is_file()


def check_audit(data: Path, out: Path) -> None:
    """Check the audit log, replay it, and replay it over changed data."""
    records = [read_record(line) for line in (out / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    packets = [validate(record.packet).check() for record in records]
    assert [packet.task for packet in packets] == ["FETCH", "FETCH", "MERGE", "REPORT", "LOG", "SEND"]
    again = start("--replay", "--data", str(data), "--out", str(out))
    assert (again.returncode, again.stdout.count("same ")) == (0, 6), again.stdout + again.stderr
    changed = data / "2024-08" / "employees.csv"
    changed.write_text(changed.read_text(encoding="utf-8").replace("2300.00", "2300.01"), encoding="utf-8")
    other = start("--replay", "--data", str(data), "--out", str(out))
    assert other.returncode == 1
    assert [line.split()[0] for line in other.stdout.splitlines()] == [
        "OTHER",
        "same",
        "OTHER",
        "OTHER",
        "same",
        "OTHER",
    ]


def main() -> int:
    """Check a run and its audit log in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data", Path(folder) / "out"
        shutil.copytree(HERE / "data", data)
        check_run(data, out)
        check_audit(data, out)
        missing = start("--period", "2031-01", "--data", str(data), "--out", str(out / "none"))
        assert missing.returncode == 1
        assert "E2001: expected the file" in missing.stderr
    print("payroll: six hops, no model, every document right, the audit log replays")
    return 0


if __name__ == "__main__":
    sys.exit(main())
