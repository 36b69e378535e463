"""The tickets of the service desk, which are made up."""

from __future__ import annotations

from typing import Any

CUSTOMERS = ("Haas AG", "Ito KK", "Lind AB", "Berg GmbH", "Okafor Ltd", "Garcia SA", "Novak sro", "Silva Lda")
SUBJECTS = ("Login fails after the update", "Export stops at 10,000 rows", "Invoice has the wrong VAT", "Sync is late")


def tickets() -> list[dict[str, Any]]:
    """Return the tickets, the same each time."""
    return [
        {
            "id": f"REQ-{4100 + n}",
            "customer": {"id": n % 8, "name": CUSTOMERS[n % 8], "revenue_eur": 12_000 + 3_700 * (n % 8)},
            "subject": SUBJECTS[n % 4],
            "priority": f"P{n % 3 + 1}",
            "state": "open" if n % 5 else "closed",
            "days_overdue": max(0, n * 7 % 23 - 6),
            "assignee": None if n % 6 else "m.haas",
        }
        for n in range(180)
    ]
