"""One job for a team of agents, and models that follow a script and record each prompt: `tests.bench patterns`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from accp_adapters.replay.prompt_log import PromptLog
from tests.adapters.langgraph.transcripts import violations
from tests.scripted_model import ScriptedModel

__all__ = [
    "ANSWERS",
    "QUESTION",
    "REPORT",
    "ROWS",
    "Log",
    "Scripted",
    "bytes_in",
    "crm_page",
    "crm_rows",
    "market_report",
]

QUESTION: Final = "Which customers should we call about this week's market report, and why? Write a short brief."

_CITIES: Final = ("Leeds", "Turin", "Ghent", "Lyon", "Porto", "Graz", "Aarhus", "Brno")
_BRANCHES: Final = ("logistics", "retail", "insurance", "machine tools", "food", "textiles", "energy")
_OWNERS: Final = ("Priya Garcia", "Chen Berg", "Raj Haas", "Ana Kowalski", "Tom Okafor")


def customer(number: int) -> dict[str, Any]:
    """Return one row of the CRM."""
    return {
        "customer_id": f"CUS-{48_100 + 37 * number}",
        "company": f"{_CITIES[number % 8]} {_BRANCHES[number % 7].title()} {number + 1}",
        "contact_email": f"buying{number}@{_CITIES[number % 8].lower()}-{_BRANCHES[number % 7].split()[0]}.example",
        "city": _CITIES[number % 8],
        "branch": _BRANCHES[number % 7],
        "account_owner": _OWNERS[number % 5],
        "stage": ("lead", "offer", "negotiation", "won", "lost")[number * 7 % 5],
        "contract_value_eur": 1_250 + number * 977 % 48_000,
        "last_contact": f"2026-{1 + number * 5 % 10:02}-{1 + number * 11 % 28:02}",
        "newsletter": number % 3 == 0,
    }


ROWS: Final = [customer(number) for number in range(44)]
"""The rows of the CRM; its tool prints them as `json.dumps` does."""

_SENTENCES: Final = (
    "Freight rates from {0} rose by {1} percent over the week while volumes in {2} stayed where they were.",
    "Buyers in {2} told us that offers older than {1} days are no longer read, least of all around {0}.",
    "The harbour of {0} expects {1} fewer sailings next month, which {2} feels before anybody else does.",
    "Two insurers left the market for {2}; in {0} their customers look for cover until the {1}th.",
    "Energy costs of {2} firms near {0} fell for the {1}th week, and with them the pressure to renegotiate.",
    "A survey of {1} firms in {0} puts {2} at the top of those that intend to change their supplier this year.",
)

REPORT: Final = " ".join(
    _SENTENCES[number % 6].format(_CITIES[number * 3 % 8], 3 + number * 7 % 26, _BRANCHES[number * 5 % 7])
    for number in range(51)
)
"""The report of the market desk: prose."""

ANSWERS: Final = {
    name: " ".join(
        f"{finding} {ROWS[start + step]['company']} ({ROWS[start + step]['customer_id']}), owned by "
        f"{ROWS[start + step]['account_owner']}."
        for step in range(5)
    )
    for name, finding, start in (
        ("crm", "An open offer lies with", 1),
        ("market", "The report points at the branch of", 9),
        ("writer", "Call, before the offers grow old,", 21),
    )
}
"""The answer of each agent, about 115 tokens."""


@tool
def crm_rows(query: str) -> str:
    """Return customers from the CRM."""
    return json.dumps(ROWS)


@tool
def crm_page(page: int, rows: int) -> str:
    """Return a page of customers from the CRM."""
    return json.dumps([customer(page * rows + number) for number in range(rows)])


@tool
def market_report(topic: str) -> str:
    """Return this week's market report."""
    return REPORT


@dataclass
class Log(PromptLog):
    """The prompts of one run, and the providers that would refuse one."""

    refused: set[str] = field(default_factory=set)
    """The providers that would refuse one of the prompts."""

    def add(self, agent: str, tools: Sequence[Any], messages: Sequence[BaseMessage]) -> None:
        """Record one prompt."""
        super().add(agent, tools, messages)
        self.refused |= {line.partition(":")[0] for line in violations(messages)}


class Scripted(ScriptedModel):
    """A scripted model that records its prompts, and accepts those that a provider would refuse, too."""

    agent: str
    log: Any
    strict: bool = False
    tools: list[Any] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Record the tools of the next prompts."""
        self.tools = list(tools)
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.log.add(self.agent, self.tools, messages)
        return super()._generate(messages, *args, **kwargs)


def bytes_in(saver: InMemorySaver) -> int:
    """Return the bytes in the checkpoints of a run."""
    return sum(_bytes(part) for part in (saver.storage, saver.blobs, saver.writes))


def _bytes(value: Any) -> int:
    if isinstance(value, bytes):
        return len(value)
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return sum(map(_bytes, members))
