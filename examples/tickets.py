"""The tool and the model of the README's first program: 260 synthetic tickets, and a script that needs no key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import cycle
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

QUESTION = "Why is ticket TCK-48114 late, and who has it?"
TEXTS = [
    "The invoice shows the old address although the customer changed it twice.",
    "Export to CSV stops after the first page and gives no error.",
    "Password reset mails arrive after more than an hour.",
    "The customer was charged twice and asks for the second amount back.",
]
CAUSE = "Parcel 7731 was scanned in Leipzig on Monday and not since. The carrier has not answered."


def ticket(n: int) -> dict[str, Any]:
    """Return the ticket of a number."""
    opened = datetime(2026, 3, 1, 8) + timedelta(minutes=97 * n)
    return {
        "id": f"TCK-{48000 + n}",
        "opened": opened.isoformat(),
        "status": ["open", "open", "waiting", "closed"][n % 4],
        "priority": ["low", "normal", "high"][n % 3],
        "customer": {"name": f"Customer {n * 37 % 90}", "country": ["DE", "FR", "PL", "ES", "IT"][n % 5]},
        "owner": ["amira", "bo", "chen", None][n * 7 % 4],
        "hours_late": n * 13 % 50 if n % 9 == 6 else 0,
        "refund": round(n * 19.37 % 400, 2) if n % 5 == 0 else None,
        "text": CAUSE if n == 114 else TEXTS[n * 11 % 4],
    }


@tool
def list_tickets() -> list[dict[str, Any]]:
    """Return all tickets."""
    return [ticket(n) for n in range(260)]


class Model(GenericFakeChatModel):
    """Calls the tool, then answers; put your own model in its place."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Model:  # type: ignore[override]
        """Return the model itself: the script knows the tools."""
        return self


CALL = AIMessage("", tool_calls=[{"name": "list_tickets", "args": {}, "id": "1"}])
model = Model(messages=cycle([CALL, AIMessage("Chen has it. The carrier lost the parcel after Leipzig.")]))
