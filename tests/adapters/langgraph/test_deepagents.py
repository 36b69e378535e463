"""Beside deepagents: its sub-agents have the middleware by one line, and what it saves itself is left as it is."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import tool

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_core import ResultLimits
from tests.adapters.langgraph.jobs import crm, fetch_last, refs_in
from tests.scripted_model import ScriptedModel, call, calls

CALL = "call_Zk3.q9-Lw"
LINES = [f"{n} {hashlib.sha256(b'%d' % n).hexdigest() * 12}" for n in range(200)]
CODE = "".join(f"    def f{n}(self,  x):   # {n}\n\treturn {{'a':  [{n}]}}\n" for n in range(400))
CSV = "id,name,city\n" + "".join(f'{n},"Ann, {n}",Oslo\n' for n in range(150))


def result(messages: list[BaseMessage], call_id: str) -> ToolMessage:
    return next(each for each in messages if isinstance(each, ToolMessage) and each.tool_call_id == call_id)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_the_general_purpose_agent_has_the_middleware_by_one_line(asynchronous: bool) -> None:
    task = calls(call("task", "t1", description="Look.", subagent_type="general-purpose"))
    model = ScriptedModel(script=[task, calls(call("crm", "c1", query="all")), fetch_last, "two", "done"], strict=False)
    # The line that docs/langgraph.md says.
    subagents: Any = [{**GENERAL_PURPOSE_SUBAGENT, "middleware": [AccpMiddleware()]}]
    graph = create_deep_agent(model, [crm], subagents=subagents, middleware=[AccpMiddleware()])
    asked: Any = {"messages": "go"}
    state = await graph.ainvoke(asked) if asynchronous else graph.invoke(asked)
    assert len(refs_in(result(model.received[2], "c1"))) == 1
    fetched = result(model.received[3], "f1")
    assert (fetched.status, "CRM-0000" in fetched.text) == ("success", True)
    assert result(state["messages"], "t1").text == "two"


@tool
def lines() -> str:
    """Return lines."""
    return "\n".join(LINES)


@tool
def rows() -> str:
    """Return rows."""
    return json.dumps([{"id": n, "line": line} for n, line in enumerate(LINES)])


@pytest.mark.parametrize("name", ["lines", "rows"])
@pytest.mark.parametrize("policy", [Policy(), Policy(inline_limit=100, preview_limit=80)], ids=["default", "small"])
def test_what_deepagents_saved_in_a_file_is_not_shortened_again(name: str, policy: Policy) -> None:
    model = ScriptedModel(script=[calls(call(name, CALL)), calls(call(name, f"{CALL}2")), "done"], strict=False)
    accp = AccpMiddleware(policy)
    state = create_deep_agent(model, [lines, rows], middleware=[accp]).invoke({"messages": "go"})
    for each in (CALL, f"{CALL}2"):
        assert result(model.received[2], each).text == result(state["messages"], each).text
    assert "was saved in the filesystem" in result(state["messages"], CALL).text
    assert accp.stats().kept == {f"{name}: offloaded": 2}


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("read_file", {"file_path": "/a.py", "limit": 60}),
        ("read_file", {"file_path": "/b.csv", "limit": 1_000}),
        ("grep", {"pattern": "f1", "output_mode": "content"}),
        ("grep", {"pattern": "Ann", "output_mode": "content"}),
        ("edit_file", {"file_path": "/a.py", "old_string": "f3(self,  x)", "new_string": "f3(self)"}),
    ],
)
def test_its_file_tools_stay_verbatim(name: str, args: dict[str, Any]) -> None:
    about = {"encoding": "utf-8", "created_at": "2026-01-01", "modified_at": "2026-01-01"}
    files = {path: {"content": text, **about} for path, text in {"/a.py": CODE, "/b.csv": CSV}.items()}
    model = ScriptedModel(script=[calls(call(name, CALL, **args)), "done"], strict=False)
    asked: Any = {"messages": "go", "files": files}
    state = create_deep_agent(model, middleware=[AccpMiddleware()]).invoke(asked)
    assert result(model.received[1], CALL).text == result(state["messages"], CALL).text


def test_a_result_that_only_looks_saved_is_shortened() -> None:
    saved = f"Saved at /large/{CALL.replace('-', '_')}x\n"
    texts = {"in": saved.replace("x\n", "\n"), "other": saved, "long": saved.replace("x\n", "\n") + "a line\n" * 4_000}
    shown = {}
    for name, text in texts.items():

        @tool
        def look(text: str = text + "\n".join(LINES[:20])) -> str:
            """Look."""
            return text

        model = ScriptedModel(script=[calls(call("look", CALL)), "done"], strict=False)
        limits = Policy(tools={"look": ResultLimits(inline=600, preview=300)})
        create_deep_agent(model, [look], middleware=[AccpMiddleware(limits)]).invoke({"messages": "go"})
        shown[name] = bool(refs_in(result(model.received[1], CALL)))
    assert shown == {"in": False, "other": True, "long": True}
