"""A2A: tokens of what a model reads of a task.

Hosts of today hand their model the whole task as JSON, or only the contents of its parts: texts as they are, data as
JSON, one per line. Both are compared with `task_view`.
"""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a2a.helpers import new_data_part, new_text_part
from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console

from accp_adapters.a2a.values import protojson_text
from accp_adapters.a2a.view import task_view
from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base
from accp_core.strict_json import compact_json
from tests.harness.bench.data import read_json

__all__ = ["long_task", "main"]


def main(data: Path | None, console: Console) -> None:
    """Print the table."""
    tasks = {"6 turns, 30 rows": long_task(), "1 turn, text": short_task()}
    if data is not None:
        tasks["a2a_task.json"] = ParseDict(read_json(data / "payloads" / "a2a_task.json"), Task())
    console.print(_views(tasks))


def uid(name: str) -> str:
    """Return the UUID of a name, the same in each run."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def message(name: str, role: Role, *parts: Part, inside: bool = True) -> Message:
    """Return a message; `inside` a task it has the ids of the task, as servers write them."""
    ids = {"context_id": uid("context"), "task_id": uid("task")} if inside else {}
    return Message(message_id=uid(name), role=role, parts=parts, **ids)


def completed(*artifacts: Artifact, history: list[Message], reply: Message | None = None) -> Task:
    """Return a completed task."""
    time = Timestamp(seconds=1_760_723_229, nanos=680_794_000)
    status = TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=reply, timestamp=time)
    return Task(id=uid("task"), context_id=uid("context"), status=status, artifacts=artifacts, history=history)


def long_task() -> Task:
    """Return a task of six turns whose artifact has thirty rows."""
    turns = [
        "Show me the open orders of the last quarter, with customer and value",
        "Leave out everything below one hundred euros",
        "Which of these customers are in the Nordics?",
        "Group them by sales region, largest first",
        "Mark those that are more than thirty days overdue",
        "Now give me the final list as a table, please",
    ]
    history = []
    for number, turn in enumerate(turns):
        history.append(message(f"ask {number}", Role.ROLE_USER, new_text_part(turn)))
        history.append(
            message(f"reply {number}", Role.ROLE_AGENT, new_text_part(f"Done: {turn.lower()}. Anything else?"))
        )
    regions, names = ("Nordics", "DACH", "Benelux"), ("Haas", "Ito", "Lind", "Berg", "Okafor")
    rows = [
        {
            "order": f"ORD-{7001 + n}",
            "customer": f"{names[n % 5]} AG",
            "region": regions[n % 3],
            "value": 420.5 + 37 * n,
            "overdue": n % 4 == 0,
        }
        for n in range(30)
    ]
    artifact = Artifact(artifact_id=uid("rows"), name="orders", parts=[new_data_part({"orders": rows})])
    summary = message("summary", Role.ROLE_AGENT, new_text_part("30 orders, 8 of them overdue; see the table."))
    return completed(artifact, history=history, reply=summary)


def short_task() -> Task:
    """Return a task of one turn whose artifact is a text."""
    request = message("ask", Role.ROLE_USER, new_text_part("What is the revenue of Q3?"))
    text = Artifact(artifact_id=uid("text"), parts=[new_text_part("Revenue of Q3 was 4,326,000 EUR.")])
    return completed(text, history=[request])


def _views(tasks: Mapping[str, Task]) -> Any:
    count = o200k_base()
    lines = []
    for name, task in tasks.items():
        bare = ParseDict(MessageToDict(task), Task())
        bare.ClearField("history")
        view, stored = task_view(task), task_view(task, store=SqliteColdStore())
        parts = count(_contents(task))
        cells = (view.tokens_before, count(protojson_text(bare)), parts, view.tokens_after, stored.tokens_after)
        shares = percent(view.tokens_after, view.tokens_before), percent(view.tokens_after, parts)
        lines.append((name, *(f"{cell:,}" for cell in cells), *shares))
    title = "A2A. what a model reads of a task: o200k_base tokens"
    hosts = ("whole task", "without history", "parts only")
    return plain_table(title, ("", *hosts, "task_view", "with reference", "% of whole", "% of parts"), lines)


def _contents(task: Task) -> str:
    """Return what a host shows that looks at parts only: those of the status and of the artifacts."""
    parts = [*task.status.message.parts, *(part for artifact in task.artifacts for part in artifact.parts)]
    return "\n".join(part.text if part.HasField("text") else compact_json(MessageToDict(part)) for part in parts)
