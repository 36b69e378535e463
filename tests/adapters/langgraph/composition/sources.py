"""What the tools of these tests return, and the tools: tables, logs, prose, errors, images, base64, repeated text."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.tools import BaseTool, ToolException, tool

__all__ = ["BLOB", "LOG", "PROSE", "RETURNED", "ROWS", "SOURCES", "digits", "rows", "tools"]


def digits(seed: object, length: int = 16) -> str:
    """Return hexadecimal digits that no notation shortens."""
    return hashlib.sha256(str(seed).encode()).hexdigest()[:length]


def rows(owner: str, count: int = 40) -> list[dict[str, Any]]:
    """Return customers of `owner`, each with an e-mail address."""
    return [
        {
            "id": f"{owner}-{number:04}",
            "email": f"c{number}@{owner}.example.com",
            "status": "open" if number % 3 else "won",
            "trace": digits((owner, number)),
        }
        for number in range(count)
    ]


ROWS: Final = json.dumps(rows("crm"))
LOG: Final = "\n".join(
    f"2026-03-0{1 + n // 30} 10:{n % 60:02}:00 worker-{n % 4} request {digits(n)} took {n * 7 % 900} ms"
    for n in range(60)
)
PROSE: Final = " ".join(f"The {number}th paragraph says that {digits(number, 8)} was agreed." for number in range(60))
BLOB: Final = base64.b64encode(b"".join(hashlib.sha256(bytes([n])).digest() for n in range(60))).decode()
_ERROR: Final = "Traceback (most recent call last):\n" + "\n".join(f'  File "a{n}.py", line {n}' for n in range(80))
_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

SOURCES: Final = {
    "crm": ROWS,
    "logs": LOG,
    "prose": PROSE,
    "blob": BLOB,
    "mixed": json.dumps({"rows": rows("crm", 30)}),
}
"""Name of a tool, and the text that it returns."""
RETURNED: Final = frozenset(SOURCES.values())


def tools(*, failures: int = 0) -> Sequence[BaseTool]:
    """Return new tools; the first `failures` calls of `logs` raise ValueError."""
    left = [failures]

    @tool
    def crm(query: str) -> str:
        """Return customers."""
        return SOURCES["crm"]

    @tool
    def logs(query: str) -> str:
        """Return the lines of a log."""
        if left[0] > 0:
            left[0] -= 1
            raise ValueError("the log is locked")
        return SOURCES["logs"]

    @tool
    def prose(query: str) -> str:
        """Return a report."""
        return SOURCES["prose"]

    @tool
    def blob(query: str) -> str:
        """Return a file."""
        return SOURCES["blob"]

    @tool
    def mixed(query: str) -> str:
        """Return a document that repeats customers."""
        return SOURCES["mixed"]

    @tool
    def fails(query: str) -> str:
        """Fail with a long message."""
        raise ToolException(_ERROR)

    @tool
    def picture(query: str) -> list[dict[str, Any] | str]:
        """Return an image between two texts."""
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PIXEL}"}}
        return [{"type": "text", "text": ROWS}, image, "one pixel"]

    fails.handle_tool_error = True
    return [crm, logs, prose, blob, mixed, fails, picture]
