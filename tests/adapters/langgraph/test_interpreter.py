"""Programs that a model writes: each value that they read is exact, and what they print is a result like any other.

The interpreters are those of LangChain and Monty where they are installed, and a tool that does what both do: it calls
other tools, under an id of its own or under that of its own call, and no message says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from accp_adapters.langgraph import AccpMiddleware, Policy, fetch_tool, resolve
from accp_core.references import HANDED_TEXTS_KEY, key_of, reference_to
from tests.adapters.langgraph.jobs import refs_in
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

CITIES: Final = ["Oslo", "Lima", "São Paulo", "Xi'an"]
SHOP: Final[dict[str, Any]] = {
    "page": {"next": None, "tags": [], "rate": 1e-07},
    "customers": [{"id": f"C{n:03}", "name": f"Ann, {n}", "city": CITIES[n % 4], "zip": f"0{n}"} for n in range(40)],
    "orders": [
        {
            "id": 9007199254740000 + n,
            "customer": f"C{n * 7 % 40:03}",
            "status": ("paid", "late", "open")[n % 3],
            "total": n * 7919 % 1009 / 4 - 20,
            "sent": None if n % 5 == 0 else f"2026-03-{n % 28 + 1:02}",
            "note": f'“{n}”: "fragile"\n\tcall {n}' if n % 11 == 3 else "",
            "items": [{"sku": f"S-{n % 9}", "n": n % 4}] * (n % 3),
        }
        for n in range(200)
    ],
}
TASKS: Final = [
    # What a reference is asked for, what a program in JavaScript finds, and one in Python.
    ("SELECT count(*) FROM orders", "o.length", "len(o)"),
    ("SELECT count(*) FROM orders WHERE status = 'late'", "late.length", "len(late)"),
    ("SELECT sum(total) FROM orders", "sum(o)", "sum([x['total'] for x in o])"),
    ("SELECT max(total) FROM orders", "Math.max(...o.map(x => x.total))", "max([x['total'] for x in o])"),
    ("SELECT avg(total) FROM orders", "sum(o) / o.length", "sum([x['total'] for x in o]) / len(o)"),
    ("SELECT count(*) FROM orders WHERE total < 0", "size(x => x.total < 0)", "len([x for x in o if x['total'] < 0])"),
    (
        "SELECT id FROM orders WHERE total > 230",
        "o.filter(x => x.total > 230).map(x => x.id)",
        "[x['id'] for x in o if x['total'] > 230]",
    ),
    ("SELECT count(*) FROM orders WHERE sent IS NULL", "size(x => x.sent === null)", "len(o) - len(sent)"),
    (
        "SELECT count(*) FROM orders WHERE sent >= '2026-03-20'",
        "size(x => x.sent >= '2026-03-20')",
        "len([x for x in sent if x >= '2026-03-20'])",
    ),
    (
        "SELECT note FROM orders WHERE note LIKE '%fragile%'",
        "o.map(x => x.note).filter(x => x)",
        "[x['note'] for x in o if x['note']]",
    ),
    (
        "SELECT sum(n) FROM orders_items",
        "o.flatMap(x => x.items).reduce((s, x) => s + x.n, 0)",
        "sum([i['n'] for x in o for i in x['items']])",
    ),
    ("SELECT count(DISTINCT city) FROM customers", "new Set(c.map(x => x.city)).size", "len({x['city'] for x in c})"),
    (
        "SELECT name, zip FROM customers WHERE city = 'São Paulo'",
        "c.filter(x => x.city == 'São Paulo').map(({name, zip}) => ({name, zip}))",
        "[{'name': x['name'], 'zip': x['zip']} for x in c if x['city'] == 'São Paulo']",
    ),
    (
        "SELECT c.city FROM orders o JOIN customers c ON c.id = o.customer WHERE o.status = 'late' AND o.total > 200",
        "late.filter(x => x.total > 200).map(x => c.find(y => y.id == x.customer).city)",
        "[y['city'] for x in late if x['total'] > 200 for y in c if y['id'] == x['customer']]",
    ),
    ("#/orders/3/note", "o[3].note", "o[3]['note']"),
    ("#/orders/199", "o[199]", "o[199]"),
    ("#/customers/2/city", "c[2].city", "c[2]['city']"),
    ("#/orders/8/items", "o[8].items", "o[8]['items']"),
    ("#/page", "s.page", "s['page']"),
    ("#/page/next", "s.page.next", "s['page']['next']"),
]
FOUND: Final = "late = [x for x in o if x['status'] == 'late']\nsent = [x['sent'] for x in o if x['sent']]"
QUERIES: Final = [query for query, _, _ in TASKS]


@tool
def shop() -> str:
    """Return orders and customers."""
    return json.dumps(SHOP)


@tool
def save(at: int, value: str) -> str:
    """Save a value."""
    SAVED[at] = value
    return "saved"


SAVED: Final[dict[int, str]] = {}


def expected() -> list[Any]:
    """Return the value of each task."""
    names = {"s": SHOP, "o": SHOP["orders"], "c": SHOP["customers"]}
    exec(FOUND, names)
    return [eval(code, names) for _, _, code in TASKS]


class Caller(AgentMiddleware[Any, Any, Any]):
    """Adds a tool that runs Python, which calls other tools, under the id `as_id` or that of the call that runs it."""

    def __init__(self, as_id: str | None = None) -> None:
        """Call tools under `as_id`."""

        @tool("eval")
        def run(code: str, runtime: ToolRuntime) -> str:
            """Run Python."""
            own = replace(runtime, tool_call_id=as_id or runtime.tool_call_id)

            def caller(each: Any) -> Callable[..., str]:
                def asked(**args: Any) -> str:
                    args |= {"runtime": own} if each.name == "accp_fetch" else {}
                    made = {"name": each.name, "args": args, "id": own.tool_call_id, "type": "tool_call"}
                    return str(each.invoke(made).text)

                return asked

            names: dict[str, Any] = {each.name: caller(each) for each in runtime.tools} | {"json": json}
            exec(code, names)
            return str(names["printed"])

        self.tools = [run]


def quickjs() -> Any:
    """Return LangChain's interpreter."""
    made = pytest.importorskip("langchain_quickjs").CodeInterpreterMiddleware
    return made(ptc=["shop", "accp_fetch"], max_result_chars=200_000, timeout=60)


def monty() -> Any:
    """Return Monty's interpreter."""
    pytest.importorskip("langchain_monty")
    made = import_module("langchain_monty")
    # Later pydantic-montys than langchain-monty 3.0 was written for refuse its limit of time.
    limits = made.MontyLimits(max_duration_secs=None)
    return made.MontyCodeInterpreterMiddleware(ptc=["shop", "accp_fetch"], limits=limits)


@dataclass(frozen=True)
class Interpreter:
    """What runs programs."""

    build: Callable[[], Any]
    """Makes the middleware."""
    language: str
    """What its programs are written in."""
    tool: str = "eval"
    """The tool that runs one."""

    def program(self, body: str) -> str:
        """Return a program that prints what `body` makes of the shop `s`, or of what the reference REF holds."""
        js = f"""const s = JSON.parse(await tools.shop({{}})); const o = s.orders, c = s.customers;
            const late = o.filter(x => x.status == 'late'), size = is => o.filter(is).length;
            const sum = all => all.reduce((s, x) => s + x.total, 0);
            JSON.stringify({body})"""
        if self.language == "JavaScript":
            return js
        read = "s = shop()" if self.tool == "eval_python" else "s = json.loads(shop())"
        return f"{read}\no = s['orders']\nc = s['customers']\n{FOUND}\n" + (
            body if self.tool == "eval_python" else f"printed = json.dumps({body})"
        )

    def alone(self) -> str:
        """Return a program that does the tasks with what the tool returned."""
        at = 1 if self.language == "JavaScript" else 2
        return self.program(f"[{', '.join(task[at] for task in TASKS)}]")

    def by_reference(self, queries: list[str], ref: str = "REF") -> str:
        """Return a program that asks `accp_fetch` each query, and prints its answers as JSON, or as they are."""
        asked = json.dumps(queries)
        if self.language == "JavaScript":
            each = f"await tools.accpFetch({{ref: {ref}, query: each}})"
            return f"""const found = []; for (const each of {asked}) {{ const a = {each};
                try {{ found.push(JSON.parse(a)) }} catch (error) {{ found.push(a) }} }} JSON.stringify(found)"""
        # Monty's type checker takes each argument of a schema without defaults for required.
        each = f"accp_fetch(ref={ref}, query=each, offset=0, limit=0)"
        if self.tool == "eval_python":
            # A refusal is an exception there, and any JSON is its value.
            one = f"try:\n        return {each}\n    except Exception as error:\n        return str(error)"
            return f"def ask(each):\n    {one}\n[ask(each) for each in {asked}]"
        one = "a if a.startswith('E') else json.loads(a)"
        return f"printed = json.dumps([{one} for each in {asked} for a in [{each}]])"

    def value(self, text: str) -> Any:
        """Return what a program printed."""
        found = json.loads(text.removeprefix("<result>").removesuffix("</result>"))
        found = found["result"] if self.tool == "eval_python" else found
        return json.loads(found) if isinstance(found, str) else found


INTERPRETERS: Final = {
    "its own id": Interpreter(lambda: Caller("p1"), "Python"),
    "the id of its call": Interpreter(Caller, "Python"),
    "quickjs": Interpreter(quickjs, "JavaScript"),
    "monty": Interpreter(monty, "Python", "eval_python"),
}
RUNS: Final = [(INTERPRETERS[name], is_outer) for name in INTERPRETERS for is_outer in (True, False, False, True)]
IDS: Final = [f"{name}, {where}" for name in INTERPRETERS for where in ("inside", "outside", "outside", "inside")]
quiet: Final = pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")


async def run(code: str, one: Interpreter, is_outer: bool, asynchronous: bool) -> tuple[ToolMessage, ToolMessage, str]:
    """Return what a program printed, the same as the model is sent it, and the reference for REF in `code`."""
    ours, refs = AccpMiddleware(Policy(inline_limit=600, preview_limit=500)), list[str]()

    def program(messages: list[Any]) -> Any:
        refs.append(refs_in(messages[-1])[0])
        return calls(call(one.tool, "e1", code=code.replace("REF", json.dumps(refs[0]))))

    model = ScriptedModel(script=[calls(call("shop", "c1")), program, "done"])
    others = [ours, one.build()] if is_outer else [one.build(), ours]
    agent = create_agent(model, [shop], middleware=others)
    asking: Any = {"messages": [("user", "go")]}
    state = await agent.ainvoke(asking) if asynchronous else agent.invoke(asking)
    printed, shown = (
        next(m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == "e1")
        for messages in (state["messages"], model.received[2])
    )
    return printed, shown, refs[0]


@quiet
@alternating(("one", "is_outer"), RUNS, ids=IDS)
@pytest.mark.parametrize("way", ["program", "both"])
async def test_twenty_tasks_are_done_exactly(way: str, one: Interpreter, is_outer: bool, asynchronous: bool) -> None:
    code = one.alone() if way == "program" else one.by_reference(QUERIES)
    printed, _, _ = await run(code, one, is_outer, asynchronous)
    assert one.value(printed.text) == expected()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_twenty_tasks_are_done_exactly_by_references_alone(asynchronous: bool) -> None:
    def pass_on(messages: list[Any]) -> Any:
        ref = refs_in(messages[-1])[0]
        asked = enumerate(ref + (query if query.startswith("#") else f" {query}") for query in QUERIES)
        return calls(*(call("save", f"s{at:02}", at=at, value=each) for at, each in asked))

    model = ScriptedModel(script=[calls(call("shop", "c1")), pass_on, "done"])
    ours = AccpMiddleware(Policy(tools={"save": resolve("value")}))
    agent = create_agent(model, [shop, save], middleware=[ours])
    SAVED.clear()
    asking: Any = {"messages": [("user", "go")]}
    await agent.ainvoke(asking) if asynchronous else agent.invoke(asking)
    for at, value in enumerate(expected()):
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = "\n".join(value)
        assert (SAVED[at] if isinstance(value, str) else json.loads(SAVED[at])) == value, QUERIES[at]


@quiet
@alternating(("one", "is_outer"), RUNS, ids=IDS)
async def test_a_program_catches_a_refusal(one: Interpreter, is_outer: bool, asynchronous: bool) -> None:
    # An exception would end LangChain's run where the program does not catch it, and that interpreter hides its words.
    printed, _, _ = await run(one.by_reference(["what is late", "#/orders/200"]), one, is_outer, asynchronous)
    words, pointer = one.value(printed.text)
    assert words.startswith("E1004: ") and pointer.startswith("E1004: expected an index from 0 to 199 at '#/orders'")
    printed, _, _ = await run(one.by_reference([""], "'$cold.000000000000'"), one, is_outer, asynchronous)
    assert one.value(printed.text)[0].startswith("E5002: ")


@quiet
@alternating(("one", "is_outer"), RUNS, ids=IDS)
async def test_what_a_program_printed_is_a_result_like_any_other(
    one: Interpreter, is_outer: bool, asynchronous: bool
) -> None:
    few, shown, _ = await run(one.program("c"), one, is_outer, asynchronous)
    assert "[40] id name" in shown.text and len(shown.text) < len(few.text) * 0.7
    many, preview, ref = await run(one.program("o"), one, is_outer, asynchronous)
    assert one.value(many.text) == SHOP["orders"]
    assert refs_in(preview) == [reference_to(key_of(many.text))[: len(ref)]] and "200 rows" in preview.text
    assert len(preview.text) < len(many.text) / 5


def test_a_caller_may_say_that_it_is_a_program() -> None:
    text = json.dumps(SHOP)
    state = {HANDED_TEXTS_KEY: {key_of(text): text}}
    runtime = ToolRuntime(state=state, config={}, context=None, stream_writer=print, tool_call_id="x", store=None)
    args = {"ref": reference_to(key_of(text)), "query": "SELECT id, city FROM customers LIMIT 2", "runtime": runtime}
    made = {"name": "accp_fetch", "args": args, "id": "x", "type": "tool_call"}
    answers = [fetch_tool().invoke(made, {"metadata": about}).text for about in ({}, {"accp_caller": "program"})]
    assert answers == ["[2] id city\nC000 Oslo\nC001 Lima", '[{"id":"C000","city":"Oslo"},{"id":"C001","city":"Lima"}]']
