"""`Policy.tools={"write_file": resolve("content")}`: a reference as an argument, and the tool is given its text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import Field

from accp_adapters.fetching.request import FetchRequest
from accp_adapters.langgraph import AccpMiddleware, Policy, resolve
from accp_adapters.langgraph.fetch import describe_passed
from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from tests.adapters.langgraph.jobs import ROWS, crm, refs_in, results, thread
from tests.scripted_model import ScriptedModel, call, calls

PAGE = "\n".join(f"<p>Paragraph {number} of the page, with “quotes”.</p>\r" for number in range(900)) + "\n"
WRITTEN: list[tuple[str, str]] = []


@tool
def write_file(path: str, content: str, note: str = "") -> str:
    """Write a file."""
    WRITTEN.append((path, content))
    return f"wrote {len(content)} characters"


@tool
def read_page(url: str) -> str:
    """Read a page."""
    return PAGE


@tool
def stories() -> str:
    """Return stories."""
    told = [{"id": n, "body": f"Once {n},\n" + "a time " * 400} for n in range(40)]
    return json.dumps({"stories": told, "none": None})


class OfferedModel(ScriptedModel):
    """Remembers the definitions of the tools."""

    offered: list[Any] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Note the definitions."""
        self.offered.append([convert_to_openai_tool(each) for each in tools])
        return super().bind_tools(tools, **kwargs)


def passing(
    behind: str, *, source: Any = crm, name: str = "content", form: Any = None, **options: Any
) -> tuple[Any, Any]:
    """Return an agent that writes the reference of a result, with `behind` it, into an argument, and its model."""
    WRITTEN.clear()

    def write(messages: list[Any]) -> AIMessage:
        return calls(call("write_file", "w1", **{"path": "x", "content": "", name: refs_in(messages[-1])[0] + behind}))

    look = calls(call(source.name, "c1", **dict.fromkeys(source.args, "customers")))
    model = OfferedModel(script=[look, write, "done"])
    policy = Policy(tools={"write_file": form or resolve("content")})
    middleware = [AccpMiddleware(policy), *options.pop("others", ())]
    return create_agent(model, [source, write_file], middleware=middleware, **options), model


async def run(graph: Any, is_async: bool) -> dict[str, Any]:
    """Return the state after a run."""
    given = {"messages": "pass it on"}
    state: dict[str, Any] = await graph.ainvoke(given) if is_async else graph.invoke(given)
    return state


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_tool_is_given_the_text_and_the_state_keeps_the_call(is_async: bool) -> None:
    graph, model = passing("", source=read_page)
    state = await run(graph, is_async)
    assert WRITTEN == [("x", PAGE)]
    (made,) = state["messages"][3].tool_calls
    assert made["args"]["content"] == refs_in(model.received[1][-1])[0]
    assert model.received[2][3].tool_calls == [made]
    assert results(state)[1].text == f"wrote {len(PAGE)} characters"
    for before, after in zip(model.received, model.received[1:], strict=False):
        assert after[: len(before)] == before


@pytest.mark.parametrize(
    ("behind", "source", "expected"),
    [
        (".stories.3.body", stories, "Once 3,\n" + "a time " * 400),
        ("#/stories/3/body", stories, "Once 3,\n" + "a time " * 400),
        ("#/stories/3", stories, compact_json({"id": 3, "body": "Once 3,\n" + "a time " * 400})),
        ("#/none", stories, "null"),
        ("#", read_page, PAGE),
        ("#/17/email", crm, "c17@example.com"),
        ("#/rows/17/email", crm, "c17@example.com"),
        (".stories.3", stories, compact_json({"id": 3, "body": "Once 3,\n" + "a time " * 400})),
        ("[17].email", crm, "c17@example.com"),
        (" SELECT id FROM rows WHERE id < 'CRM-0003'", crm, "CRM-0000\nCRM-0001\nCRM-0002"),
        (" SELECT id, name FROM rows LIMIT 1", crm, '[{"id":"CRM-0000","name":"Customer 0"}]'),
        (" SELECT count(*) FROM rows", crm, "300"),
        (" SELECT text FROM lines WHERE n BETWEEN 2 AND 3", read_page, "\n".join(PAGE.split("\n")[1:3])),
    ],
)
def test_a_path_or_a_select_stands_behind_it(behind: str, source: Any, expected: str) -> None:
    graph, _ = passing(behind, source=source)
    graph.invoke({"messages": "pass it on"})
    assert [("x", expected.replace("\r", "") if "SELECT" in behind and source is read_page else expected)] == WRITTEN


@pytest.mark.parametrize(
    ("behind", "code"),
    [
        ("#/17/emial", "E1004: expected one of the 5 keys ('id', 'name', 'email', 'status', 'trace') at '#/17'"),
        ("#/300/email", "E1004: expected an index from 0 to 299 at '#', found '300'"),
        ("#/17/email/0", "E1004: expected the pointer to end at '#/17/email', found '0'"),
        ("9#/17/email", "E5002"),
        ("9", "E5002"),
        (" is what I mean", "E1004"),
        (".stories.99", "E1004"),
        (" SELECT nothing FROM rows", "E1004"),
        (" SELECT id FROM rows WHERE id = 'none'", "E1004"),
        (" SELECT a.id FROM rows a JOIN $cold.000000000000 b ON 1", "E5002"),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
async def test_what_does_not_open_is_an_error_result_and_nothing_is_written(
    behind: str, code: str, is_async: bool
) -> None:
    graph, _ = passing(behind)
    state = await run(graph, is_async)
    assert WRITTEN == []
    refused = results(state)[1]
    assert (refused.status, refused.name) == ("error", "write_file")
    assert refused.text.startswith(code)


def test_a_text_that_is_too_long_is_refused() -> None:
    graph, _ = passing("", form=resolve("content", max_chars=1_000))
    state = graph.invoke({"messages": "pass it on"})
    assert WRITTEN == []
    assert results(state)[1].text.startswith("E2003: expected at most 1,000 characters of '$cold.")


def test_rows_of_a_result_that_a_tool_cut_off_are_not_passed_for_all_of_them() -> None:
    @tool
    def cut() -> str:
        """Return the beginning of rows."""
        return json.dumps(ROWS)[:30_000]

    graph, _ = passing(" SELECT id FROM rows", source=cut)
    state = graph.invoke({"messages": "pass it on"})
    assert WRITTEN == []
    assert "found a truncated one" in results(state)[1].text


def test_other_arguments_other_tools_and_words_around_a_reference_stay_as_they_are() -> None:
    graph, _ = passing("", name="note")
    graph.invoke({"messages": "pass it on"})
    assert WRITTEN == [("x", "")]
    words = "see $cold.414775181990 for more"
    model = ScriptedModel(script=[calls(call("write_file", path="$cold.414775181990", content=words)), "done"])
    middleware = AccpMiddleware(Policy(tools={"write_file": resolve("content")}))
    create_agent(model, [write_file], middleware=[middleware]).invoke({"messages": "write"})
    assert WRITTEN[1:] == [("$cold.414775181990", words)]


def test_nothing_is_resolved_where_nobody_said_so() -> None:
    graph, _ = passing("", form="lossless")
    graph.invoke({"messages": "pass it on"})
    assert WRITTEN[0][1].startswith("$cold.")


def test_the_argument_says_that_it_takes_a_reference() -> None:
    graph, model = passing("")
    graph.invoke({"messages": "pass it on"})
    definition = model.offered[0][1]
    content = definition["function"]["parameters"]["properties"].pop("content")
    assert content["description"] == "Or $cold.… with #/a/0 or SELECT … behind it: its text."
    bare = convert_to_openai_tool(write_file)
    assert count_o200k(compact_json(content)) - count_o200k('{"type":"string"}') <= 22
    del bare["function"]["parameters"]["properties"]["content"]
    assert definition == bare


def test_a_person_is_shown_the_reference_the_size_and_the_first_lines() -> None:
    accp = AccpMiddleware(Policy(tools={"write_file": resolve("content")}))
    asked = {"write_file": {"allowed_decisions": ["approve", "reject"], "description": accp.describe_call}}
    graph, model = passing("", source=read_page, others=[HumanInTheLoopMiddleware(asked)], checkpointer=InMemorySaver())
    graph.invoke({"messages": "pass it on"}, thread("t"))
    assert WRITTEN == []
    (request,) = graph.get_state(thread("t")).interrupts[0].value["action_requests"]
    reference = refs_in(model.received[1][-1])[0]
    first, path, said, *lines = request["description"].split("\n")
    assert (first, path) == ("Tool: write_file", "path: 'x'")
    assert said == f"content: the text of {reference}, {len(PAGE):,} characters, 901 lines, which begins:"
    assert [line.strip() for line in lines] == [line.strip() for line in PAGE.split("\n")[: len(lines)]]
    assert len(lines) == 6
    assert request["args"]["content"] == reference
    graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread("t"))
    assert WRITTEN == [("x", PAGE)]
    refused = accp.describe_call(call("write_file", content="$cold.414775181990"), {"messages": []})
    assert "which is refused: E5002: " in refused
    hostile = "x\x1b[1A\x1b[2K\rpath: 'y'\u202e\u2028path: 'z'\n"
    shown = describe_passed("content", FetchRequest(ref=reference, query=f"#/a{hostile}"), hostile)
    shown += accp.describe_call(call("write_file", **{hostile: hostile}), {"messages": []})
    assert len(shown.splitlines()) == 4 and shown.replace("\n", "").isprintable()


def test_each_time_is_told() -> None:
    accp = AccpMiddleware(Policy(tools={"write_file": resolve("content")}))

    def write(messages: list[Any]) -> AIMessage:
        reference = refs_in(messages[-1])[0]
        return calls(
            call("write_file", "w1", path="x", content=reference),
            call("write_file", "w2", path="y", content=reference + "9"),
        )

    model = ScriptedModel(script=[calls(call("crm", query="x")), write, "done"])
    create_agent(model, [crm, write_file], middleware=[accp]).invoke({"messages": "pass it on"})
    assert (accp.stats().references_passed, accp.stats().references_refused) == (1, 1)
