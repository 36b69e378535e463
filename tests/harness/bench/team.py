"""One job for a team of agents, and models that follow a script and record each prompt, for the section `patterns`."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from accp_adapters.fetching import FETCH_NAME
from accp_core.references import find_references, reference_to
from integrations.isolated_contexts.prompt_log import PromptLog
from tests.adapters.langgraph.transcripts import violations
from tests.scripted_model import ScriptedModel, Step, call, calls

__all__ = [
    "FINDINGS",
    "QUESTION",
    "REPORT",
    "ROWS",
    "Finding",
    "Log",
    "Scripted",
    "bytes_in",
    "crm_page",
    "crm_rows",
    "customer",
    "market_report",
    "offer_findings",
]

QUESTION: Final = "Which customers should we call about this week's market report, and why? Write a short brief."

_MAX_CALLS: Final = 48
"""Calls of tools after which nothing more is fetched."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of an answer, and what a model must read to write it."""

    line: str
    """The line."""
    facts: tuple[str, ...]
    """The texts that must stand in the prompt, character for character."""
    query: str
    """What to ask of a reference where they do not; it follows from the task alone."""


def open_offers(customers: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the customers of the five largest open offers."""
    offers = [row for row in customers if row["stage"] == "offer"]
    return sorted(offers, key=lambda row: -row["contract_value_eur"])[:5]


def surveys() -> list[tuple[str, str, str]]:
    """Return firms, city and branch of the five largest surveys of the report."""
    found = re.findall(r"A survey of (\d+) firms in (\w+) puts ([\w ]+?) at the top", REPORT)
    return sorted(found, key=lambda survey: -int(survey[0]))[:5]


def offer_findings(customers: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return what an agent finds that reads `customers`."""
    keys = ("company", "customer_id", "branch", "contract_value_eur", "account_owner")
    return tuple(
        Finding(line=f"{_offer(row)}.", facts=tuple(str(row[key]) for key in keys), query="stage = 'offer'")
        for row in open_offers(customers)
    )


def _offer(row: Mapping[str, Any]) -> str:
    return (
        f"{row['company']} ({row['customer_id']}), {row['branch']}: an offer of {row['contract_value_eur']} EUR, owned "
        f"by {row['account_owner']}"
    )


def _survey(firms: str, city: str, branch: str) -> str:
    return f"{firms} firms in {city} name {branch} first"


_FOUND: Final[Mapping[str, tuple[Finding, ...]]] = {
    "crm": offer_findings(ROWS),
    "market": tuple(
        Finding(
            line=f"{_survey(firms, city, branch)}.", facts=(f"{firms} firms in {city} puts {branch}",), query="survey"
        )
        for firms, city, branch in surveys()
    ),
    "writer": tuple(
        Finding(
            line=f"Call {row['company']} ({row['customer_id']}, {row['account_owner']}), because "
            f"{_survey(firms, city, branch)}, and its offer of {row['contract_value_eur']} EUR is open.",
            facts=(_offer(row), _survey(firms, city, branch)),
            query="offer",
        )
        for row in open_offers(ROWS)
        for firms, city, branch in surveys()
        if branch == row["branch"]
    ),
}
FINDINGS: Final[Mapping[str, tuple[Finding, ...]]] = {
    **_FOUND,
    **{
        f"{name}, as told": tuple(Finding(line=each.line, facts=(each.line,), query="offer") for each in _FOUND[name])
        for name in _FOUND
    },
}
"""What each agent finds: crm in the rows, market in the report, the writer in what these two wrote. "…, as told" is for
one that passes on what it was told."""


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
    answers: dict[str, list[str]] = field(default_factory=dict)
    """What each agent found, by agent."""
    unseen: dict[str, list[str]] = field(default_factory=dict)
    """The facts that an agent needed and could not read, by agent."""
    fetches: int = 0
    """The model calls that fetched something."""

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
        result = super()._generate(messages, *args, **kwargs)
        answered = result.generations[0].message
        if isinstance(answered, AIMessage) and any(made["name"] == FETCH_NAME for made in answered.tool_calls):
            self.log.fetches += 1
            self._next -= 1  # the same step again, with what it fetched
        return result

    def find(self, findings: Sequence[Finding], then: Callable[[str], AIMessage | str] = str) -> Step:
        """Return the step that looks its findings up in the prompt, fetches what is missing, and goes on with `then`.

        It writes a line only if every fact of it stands in the prompt; what does not is in the log.
        """

        def step(messages: list[BaseMessage]) -> AIMessage:
            shown = "\n".join(message.text for message in messages)
            missing = [fact for finding in findings for fact in finding.facts if fact not in shown]
            queries = [each.query for each in findings if any(fact not in shown for fact in each.facts)]
            if fetching := _fetch(messages, shown, queries):
                return fetching
            lines = "\n".join(each.line for each in findings if all(fact in shown for fact in each.facts))
            self.log.answers.setdefault(self.agent, []).append(lines)
            if missing:
                self.log.unseen.setdefault(self.agent, []).extend(missing)
            answer = then(f"done: {lines}" if "Answer `done:" in shown else lines)
            return AIMessage(answer) if isinstance(answer, str) else answer

        return step


def _fetch(messages: Sequence[BaseMessage], shown: str, queries: Sequence[str]) -> AIMessage | None:
    """Return the next fetch that nobody tried: each reference of the prompt is queried for what is missing."""
    made = [each["args"] for message in messages if isinstance(message, AIMessage) for each in message.tool_calls]
    references = [reference_to(key) for key in find_references(f"{shown}\n{json.dumps(made)}")]
    tries = ({"ref": reference, "query": query} for query in queries for reference in references)
    untried = next((each for each in tries if each not in made), None)
    return calls(call(FETCH_NAME, f"fetch{len(messages)}", **untried)) if untried and len(made) < _MAX_CALLS else None


def bytes_in(saver: InMemorySaver) -> int:
    """Return the bytes in the checkpoints of a run."""
    return sum(_bytes(part) for part in (saver.storage, saver.blobs, saver.writes))


def _bytes(value: Any) -> int:
    if isinstance(value, bytes):
        return len(value)
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return sum(map(_bytes, members))
