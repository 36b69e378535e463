"""What the tools of the tested agents give, and the query that finds the answer in it."""

from __future__ import annotations

import json
from typing import Any, Final

from accp_core.references import find_references, reference_to

__all__ = ["LATE", "ROWS", "as_json", "fetch_arguments"]

ROWS: Final[list[dict[str, Any]]] = [
    {"id": n, "customer": f"Customer {n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(600)
]
LATE: Final = "\n".join(["[12] id", *map(str, range(0, 600, 50))])
"""The answer to the query of `fetch_arguments`."""


def fetch_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of the fetch tool that ask the first reference in `text` for the late rows."""
    return {
        "ref": reference_to(next(iter(find_references(text)))),
        "query": "select id from rows where status = 'late'",
    }


def as_json() -> str:
    """Return the rows as a tool prints them."""
    return json.dumps(ROWS)
