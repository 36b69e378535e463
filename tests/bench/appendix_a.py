"""Appendix A of ACCP, like for like: the same as English, compact JSON, frames, views, and by the middleware.

The draft counts 85, 62 and 22 tokens for the first row, and gives no texts. These have about its sizes in English. A
frame is counted bare and as a session sends it. The last row is what the models of five agents read in all: each agent
gets the task and what the agents before it found; with contexts each gets what it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import plain_table
from accp_adapters.messages import project_messages
from accp_adapters.tokens import o200k_base
from accp_core.accp import PRACTICAL_LIMITS, Codec, Intent, Message, Session
from accp_core.aci import AgentContext, TodoItem
from accp_core.aci.replies.brief import brief
from accp_core.strict_json import compact_json
from accp_core.view import render

__all__ = ["COLUMNS", "PIPELINE", "SCENARIOS", "main", "table"]

COUNT: Final = o200k_base()
CODEC: Final = Codec(counter=COUNT, limits=PRACTICAL_LIMITS)
NOW: Final = 1_714_000_000
AREAS: Final = ("north", "south", "west")


class Scenario(NamedTuple):
    """One message in English and as data."""

    draft: tuple[int, int, int]
    """What the draft counts: English, JSON, ACCP."""
    english: str
    message: Message


class Step(NamedTuple):
    """What one agent of the pipeline found."""

    agent: str
    task: str
    needs: tuple[int, ...]
    """The steps whose results it reads where it gets a context."""
    sentence: str
    """A row in English."""
    rows: tuple[dict[str, Any], ...]


def _message(intent: Intent, operation: str, **payload: Any) -> Message:
    return Message(sender="research", intent=intent, operation=operation, payload=payload)


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "completion + findings": Scenario(
        (85, 62, 22),
        "I have finished analysing the sales data of the third quarter, as you asked. These are my findings: revenue is"
        " down by 12 percent against the quarter before, the enterprise segment is in decline, and churn has gone up by"
        " 3.2 percent. I am confident in these figures to about 90 percent. As the next action I suggest that the"
        " strategy agent makes a plan for remediation, and that it treats this with high priority.",
        _message(
            Intent.COMPLETE,
            "analyze",
            data="q3_sales",
            findings={"revenue": "-12%QoQ", "enterprise": "decline", "churn": "+3.2%"},
            confidence=0.9,
            next_action="strategy:plan_remediation",
            priority="high",
        ),
    ),
    "request + params": Scenario(
        (45, 38, 15),
        "Please schedule the implementation of the authentication module for the development team in sprint 14. It has"
        " high priority and depends on the database migration, and it should be done by the 28th of June 2024.",
        _message(
            Intent.REQUEST,
            "schedule",
            who="dev_team",
            task="impl_auth_module",
            when="sprint_14",
            priority="high",
            deps=["db_migration"],
            deadline="2024-06-28",
        ),
    ),
    "error + escalation": Scenario(
        (60, 48, 18),
        "I could not fetch the customer data from the CRM interface, because the connection timed out after 30 seconds."
        " I have tried it three times, each time with the same result. I cannot go on without these data, so I hand the"
        " matter over to the supervisor, who should decide whether to wait or to use the cached copy.",
        _message(
            Intent.FAILURE,
            "fetch",
            source="api.crm",
            error="timeout_30s",
            retry=3,
            esc="supervisor",
            options=["wait", "use_cache"],
        ),
    ),
    "state sync, 10 fields": Scenario(
        (120, 95, 35),
        "Here is the present state of the project, which is now at version 7. Task 1 and task 2 are done,"
        " task 3 is done as well, task 4 is in progress, and task 5 has not been started yet. Of the budget"
        " 42.30 dollars are left. The deadline is the 30th of June 2024. The owner is the planning agent."
        " There is one open risk, which is the late delivery of the vendor. The phase is implementation, and"
        " the overall progress is at 60 percent.",
        _message(
            Intent.SYNCHRONIZE,
            "state",
            version=7,
            delta={
                "task_1": "done", "task_2": "done", "task_3": "done", "task_4": "wip", "task_5": "open",
                "budget": 42.3, "deadline": "2024-06-30", "owner": "planner", "risk": "vendor_late", "progress": 60,
            },
        ),
    ),
}  # fmt: skip

PIPELINE: Final = (
    Step(
        "planner", "Plan the review of the accounts.", (),
        "The {area} region is reviewed by {owner} in week {week}.",
        tuple({"area": area, "owner": f"analyst_{n}", "week": 20 + n} for n, area in enumerate(AREAS)),
    ),
    Step(
        "research", "Collect the accounts of each region.", (0,),
        "Account {id}, {name}, in the {area} region renewed for {value} dollars, a change of {change} percent.",
        tuple(
            {"id": 4000 + n, "name": f"Firm {n}", "area": AREAS[n % 3], "value": 900 + 37 * n,
             "change": round((n * 7 % 23) - 11.5, 1)}
            for n in range(30)
        ),
    ),
    Step(
        "analyst", "Find the accounts at risk.", (1,),
        "Account {id} is at risk, because {reason}, with a score of {score}.",
        tuple(
            {"id": 4000 + 3 * n, "reason": ("usage fell", "late payment")[n % 2], "score": 50 + 5 * n}
            for n in range(8)
        ),
    ),
    Step(
        "reviewer", "Check the findings.", (2,),
        "The finding about account {id} is {verdict}; {note}.",
        tuple(
            {"id": 4000 + 3 * n, "verdict": ("confirmed", "open")[n % 3 == 2], "note": "checked in the CRM"}
            for n in range(8)
        ),
    ),
    Step(
        "writer", "Write the report for the board.", (2, 3),
        "Section {number} is about {title}.",
        tuple({"number": n + 1, "title": title} for n, title in enumerate(("risks", "actions"))),
    ),
)  # fmt: skip


def payload_of(message: Message) -> dict[str, Any]:
    """Return a message as the object that an agent would send as JSON."""
    return {"from": message.sender, "intent": message.intent.value, "operation": message.operation, **message.payload}


def bare(message: Message) -> str:
    """Return the frame of a message without its envelope."""
    return CODEC.encode(message).parts[0][0]


def wire(message: Message) -> str:
    """Return what a session sends."""
    numbers = iter(range(100, 200))
    session = Session("s1", message.sender, codec=CODEC, new_id=lambda: f"49679033e{next(numbers)}")
    if message.operation == "state":
        return session.share(message.payload["delta"], NOW)[0]
    return session.send(message, NOW)[0]


def step_message(step: Step) -> Message:
    """Return what an agent of the pipeline sends."""
    return Message(sender=step.agent, intent=Intent.COMPLETE, operation="report", payload={"rows": list(step.rows)})


def english_of(step: Step) -> str:
    """Return the result of a step in English."""
    return " ".join(step.sentence.format(**row) for row in step.rows)


STEP_FORMS: Final[Mapping[str, Callable[[Step], str]]] = {
    "English": english_of,
    "JSON": lambda step: compact_json(payload_of(step_message(step))),
    "frame": lambda step: bare(step_message(step)),
    "on the wire": lambda step: wire(step_message(step)),
    "view": lambda step: render(payload_of(step_message(step)), counter=COUNT),
}
COLUMNS: Final = (*STEP_FORMS, "middleware", "contexts")


def read_by_all(form: Callable[[Step], str]) -> int:
    """Return the tokens of all prompts: each agent reads its task and every result before it."""
    before = [form(step) for step in PIPELINE]
    return sum(COUNT(step.task) + sum(map(COUNT, before[:at])) for at, step in enumerate(PIPELINE))


def read_with_middleware() -> int:
    """Return the same where the middleware projects the results, which came as tools return them."""
    total = 0
    for at, step in enumerate(PIPELINE):
        messages: list[dict[str, Any]] = [{"role": "user", "content": step.task}]
        for number, earlier in enumerate(PIPELINE[:at]):
            called = {"id": f"c{number}", "type": "function", "function": {"name": earlier.agent, "arguments": "{}"}}
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [called]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": STEP_FORMS["JSON"](earlier)},
            ]
        total += sum(COUNT(each["content"] or "") for each in project_messages(messages).messages)
    return total


def read_in_contexts() -> int:
    """Return the tokens of all briefs: each agent reads its item and the results that it depends on."""
    contexts = [
        AgentContext(
            agent_id=step.agent,
            subtask_id=step.agent,
            todo_items=(TodoItem(item_id=step.agent, description=step.task),),
            context=tuple({PIPELINE[at].agent: list(PIPELINE[at].rows)} for at in step.needs),
        )
        for step in PIPELINE
    ]
    return sum(COUNT(brief(context, counter=COUNT)) for context in contexts)


def table() -> dict[str, tuple[tuple[int, int, int], list[int]]]:
    """Return for each row what the draft counts, and the tokens of each form; a message has no last two."""
    found: dict[str, tuple[tuple[int, int, int], list[int]]] = {}
    for name, (draft, english, message) in SCENARIOS.items():
        data = payload_of(message)
        forms = (english, compact_json(data), bare(message), wire(message), render(data, counter=COUNT))
        found[name] = draft, [COUNT(form) for form in forms]
    pipeline = [read_by_all(form) for form in STEP_FORMS.values()]
    found["5-agent pipeline"] = (8_500, 6_200, 1_800), [*pipeline, read_with_middleware(), read_in_contexts()]
    return found


def _line(name: str, draft: tuple[int, int, int], tokens: Sequence[int]) -> tuple[str, ...]:
    english = tokens[0]
    cells = [f"{count:,} ({100 - 100 * count / english:.0f} %)" for count in tokens[1:]]
    return name, " / ".join(f"{count:,}" for count in draft), f"{english:,}", *cells, *["-"] * (6 - len(cells))


def main(console: Console | None = None) -> None:
    """Print the table; in brackets what a form saves of the English."""
    columns = ("", "the draft: English / JSON / ACCP", *COLUMNS)
    rows = [_line(name, *found) for name, found in table().items()]
    (console or Console(width=160)).print(plain_table("Appendix A of ACCP, tokens", columns, rows), "")
