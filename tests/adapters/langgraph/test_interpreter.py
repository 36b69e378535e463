"""LangChain's interpreter beside the middleware: its programs call tools, and nobody's message says so."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_core.references import find_references, reference_to
from tests.adapters.langgraph.jobs import ROWS, crm
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

quickjs = pytest.importorskip("langchain_quickjs")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")]

SMALL: Final = Policy(inline_limit=600, preview_limit=500)
_COUNT: Final = "SELECT count(*) FROM rows WHERE status = 'won'"


def _fetching(query: str, ref: str = "REF") -> str:
    """Return a program that prints what the fetch tool answers."""
    return f"await tools.accpFetch({{ref: {ref}, query: {json.dumps(query)}}})"


async def _printed(code: str, *, is_outer: bool, asynchronous: bool) -> str:
    """Return what a program prints, after the agent has read a preview whose reference stands for REF in `code`."""

    def run(messages: list[Any]) -> Any:
        keys = [key for message in messages for key in find_references(message.text)]
        return calls(call("eval", "e1", code=code.replace("REF", json.dumps(reference_to(keys[0])))))

    model = ScriptedModel(script=[calls(call("crm", "c1", query="all")), run, "done"])
    interpreter = quickjs.CodeInterpreterMiddleware(ptc=["crm", "accp_fetch"], max_result_chars=200_000, timeout=60)
    ours = AccpMiddleware(SMALL)
    agent = create_agent(model, [crm], middleware=[ours, interpreter] if is_outer else [interpreter, ours])
    asking: Any = {"messages": [("user", "go")]}
    state = await agent.ainvoke(asking) if asynchronous else agent.invoke(asking)
    (answer,) = (m for m in state["messages"] if isinstance(m, ToolMessage) and m.tool_call_id == "e1")
    return str(answer.text).removeprefix("<result>").removesuffix("</result>")


@alternating("is_outer", [True, False, False, True])
async def test_a_program_reads_what_the_tool_returned(is_outer: bool, asynchronous: bool) -> None:
    code = "JSON.stringify(await tools.crm({query: 'all'}))"
    printed = json.loads(await _printed(code, is_outer=is_outer, asynchronous=asynchronous))
    assert (json.loads(printed) if isinstance(printed, str) else printed) == ROWS


@alternating("is_outer", [True, False, False, True])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (_COUNT, sum(row["status"] == "won" for row in ROWS)),
        ("SELECT id, email FROM rows LIMIT 2", [{name: row[name] for name in ("id", "email")} for row in ROWS[:2]]),
        ("", ROWS),
        ("0.email", ROWS[0]["email"]),
    ],
)
async def test_a_program_that_fetches_reads_json(query: str, expected: Any, is_outer: bool, asynchronous: bool) -> None:
    assert json.loads(await _printed(_fetching(query), is_outer=is_outer, asynchronous=asynchronous)) == expected


@alternating("is_outer", [True, False, False, True])
@pytest.mark.parametrize(
    ("code", "error"),
    [(_fetching("what is late"), "E1004"), (_fetching("", "'$cold.000000000000'"), "E5002")],
)
async def test_a_program_catches_a_refusal(code: str, error: str, is_outer: bool, asynchronous: bool) -> None:
    # An exception would end the run where the program does not catch it, and the interpreter hides its words.
    caught = f"const a = {code}; try {{ JSON.parse(a) }} catch (error) {{ 'caught ' + a }}"
    assert (await _printed(caught, is_outer=is_outer, asynchronous=asynchronous)).startswith(f"caught {error}: ")
