"""Three ordinary tool results and a question about each: what a model reads of them, and whether the answer is in it.

Each result is returned by a tool of a real agent, whose last prompt is looked at. Needs no network, data or model.
"""

import csv
import io
import json
import random
from pathlib import Path
from typing import Any, Final

from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from rich.console import Console
from toon_format import encode

from accp_adapters.cli.tables import plain_table
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.tokens import o200k_base
from tests.scripted_model import ScriptedModel

__all__ = ["main"]

_CITIES: Final = ("Lisbon", "Oslo", "Lima", "Osaka", "Accra", "Quito")


def main(data: Path | None, console: Console) -> None:
    """Print the table."""
    count = o200k_base()
    lines = []
    for name, text, toon, question, answer in (_orders(), _readings(), _log()):
        arms = [text, toon, _read(text, question, FilesystemMiddleware()), _read(text, question, AccpMiddleware())]
        lines.append((name, *(f"{count(shown):,}{'' if answer in shown else ' no'}" for shown in arms)))
    title = "tokens of a result as a model reads it; no: the answer to the question is not in it"
    columns = ("", "as it is", "TOON", "deepagents' offload", "AccpMiddleware()")
    console.print(plain_table(title, columns, lines))


def _read(text: str, question: str, middleware: Any) -> str:
    """Return what a model that asked a tool for `text` is sent as the result."""
    prompts: list[Any] = []

    class Model(ScriptedModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            prompts.append(messages)
            return super()._generate(messages, *args, **kwargs)

    tool = StructuredTool.from_function(lambda: text, name="load", description="Load the data.")
    call = AIMessage("", tool_calls=[{"name": "load", "args": {}, "id": "call_1"}])
    agent = create_agent(Model(script=[call, "done"]), [tool], middleware=[middleware])
    agent.invoke({"messages": [("user", question)]})
    return next(str(message.content) for message in prompts[-1] if isinstance(message, ToolMessage))


def _orders() -> tuple[str, ...]:
    pick = random.Random(1)
    states = pick.choices(["paid", "open", "late"], [80, 15, 5], k=1_200)
    orders = [
        {
            "id": f"ORD-{pick.randrange(16**6):06x}",
            "city": pick.choice(_CITIES),
            "total": pick.randint(500, 90_000) / 100,
        }
        | {"status": state, "note": None}
        for state in states
    ]
    largest = max((each for each in orders if each["status"] == "late"), key=lambda each: each["total"])
    question = "Which late order has the largest total?"
    return "JSON list, 1,200 orders", json.dumps(orders), encode(orders), question, str(largest["id"])


def _readings() -> tuple[str, ...]:
    pick = random.Random(2)
    rows = [
        {"reading": f"r{n:05}", "sensor": f"s{pick.randrange(40):02}", "temperature": round(pick.gauss(20, 4), 2)}
        for n in range(5_000)
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    hottest = max((row for row in rows if row["sensor"] == "s07"), key=lambda row: row["temperature"])
    question = "Which reading of sensor s07 has the highest temperature?"
    return "CSV, 5,000 readings", out.getvalue(), encode(rows), question, str(hottest["reading"])


def _log() -> tuple[str, ...]:
    pick = random.Random(3)
    lines = [
        f"2026-03-{1 + n // 48:02} {n // 2 % 24:02}:{n % 2 * 30:02}:00 INFO worker {pick.randrange(90):02} "
        f"finished job {pick.randrange(16**8):08x} in {pick.randrange(900)} ms"
        for n in range(1_300)
    ]
    job = f"{pick.randrange(16**8):08x}"
    lines[613] = f"{lines[613][:19]} ERROR worker 31 gave up on job {job}: connection to the payment service refused"
    text = "\n".join(lines)
    return "log, 1,300 lines", text, encode(lines), "Which job could not reach the payment service?", job
