"""What a model writes to pass on what a result holds: by a reference, and all of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool
from rich.console import Console

from accp_adapters.cli.output.terminal_tables import plain_table
from accp_adapters.langgraph import AccpMiddleware, Policy, resolve
from accp_adapters.tokens import o200k_base
from accp_core.references import find_references, reference_to
from accp_core.strict_json import compact_json
from tests.scripted_model import ScriptedModel, call, calls

__all__ = ["MOVES", "Move", "main", "moved"]


@dataclass(frozen=True, slots=True)
class Move:
    """A text that one tool returns, and what another one is to be given of it."""

    name: str
    source: str
    """What the first tool returns."""
    wanted: str
    """What the second one is given."""
    behind: str = ""
    """What the model writes behind the reference: a path or a SELECT."""


def _lines(count: int, words: str) -> list[str]:
    return [f"{words} {number}: {number * 7919 % 10_007:05d} é “{number % 13}” and\tmore" for number in range(count)]


def _moves() -> tuple[Move, ...]:
    page = "<html>\r\n" + "\r\n".join(f"<p>{each}</p>" for each in _lines(5_600, "Paragraph")) + "\r\n</html>\r\n"
    log = "\n".join(_lines(2_600, "2026-05-19T04:27:11Z INFO request")) + "\n"
    rows = [
        {"id": f"O-{n}", "status": "late" if n % 4 else "paid", "note": text}
        for n, text in enumerate(_lines(900, "note"))
    ]
    answer = compact_json(
        {"pages": [{"title": str(n), "body": "\n".join(_lines(1_000, f"part {n}"))} for n in range(4)]}
    )
    csv = "id,name,price\n" + "".join(f"{n},part {n},{n}.50\n" for n in range(2_000))
    late = [row["id"] + ": " + row["note"] for row in rows if row["status"] == "late"]
    columns = [{"id": row["id"], "note": row["note"]} for row in rows]
    head, tail = log.split("\n")[:700], log.split("\n")[1_000:2_000]
    body = json.loads(answer)["pages"][2]["body"]
    return (
        Move("a page", page, page),
        Move("a log", log, log),
        Move("rows as JSON", json.dumps(rows, indent=2), json.dumps(rows, indent=2)),
        Move("a file of CSV", csv, csv),
        Move("a text in JSON", answer, body, ".pages.2.body"),
        Move("an object in JSON", answer, compact_json(json.loads(answer)["pages"][1]), ".pages[1]"),
        Move("the first lines", log, "\n".join(head), " SELECT text FROM lines WHERE n <= 700"),
        Move("lines in the middle", log, "\n".join(tail), " SELECT text FROM lines WHERE n BETWEEN 1001 AND 2000"),
        Move("two columns", compact_json(rows), compact_json(columns), " SELECT id, note FROM rows"),
        Move(
            "some rows, a line each", compact_json(rows), "\n".join(late),
            " SELECT id || ': ' || note FROM rows WHERE status = 'late'",
        ),
    )  # fmt: skip


MOVES: Final = _moves()
"""Ten of them, of 20,000 to 300,000 characters."""


def moved(move: Move) -> tuple[str, str]:
    """Let an agent pass it on; return what the second tool was given, and the call as the model wrote it."""
    given: list[str] = []

    def read() -> str:
        """Read."""
        return move.source

    def write_file(path: str, content: str) -> str:
        """Write a file."""
        given.append(content)
        return "written"

    def write(messages: list[Any]) -> AIMessage:
        reference = reference_to(find_references(messages[-1].text)[0])
        return calls(call("write_file", "w1", path="out", content=reference + move.behind))

    tools = [StructuredTool.from_function(each) for each in (read, write_file)]
    middleware = [AccpMiddleware(Policy(tools={"write_file": resolve("content")}))]
    agent = create_agent(ScriptedModel(script=[calls(call("read")), write, "done"]), tools, middleware=middleware)
    state = agent.invoke({"messages": "pass it on"})
    return "".join(given), compact_json(state["messages"][3].tool_calls[0]["args"])


def main(data: Path | None, console: Console) -> None:
    """Print the table."""
    count, rows, sums = o200k_base(), [], [0, 0, 0]
    for move in MOVES:
        given, written = moved(move)
        by_hand = count(compact_json({"path": "out", "content": move.wanted}))
        sums = [sums[0] + count(written), sums[1] + by_hand, sums[2] + (given == move.wanted)]
        rows.append(
            (move.name, f"{len(move.wanted):,}", f"{count(written):,}", f"{by_hand:,}", str(given == move.wanted))
        )
    rows.append(("total", "", f"{sums[0]:,}", f"{sums[1]:,}", f"{sums[2]} of {len(MOVES)}"))
    title = "Passed on by reference: tokens that the model writes"
    console.print(plain_table(title, ("", "characters", "a reference", "written out", "exact"), rows))
