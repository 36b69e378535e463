"""The master's work: who starts when, what a failure does, and that nothing which ended is done again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, RetryPolicy, interrupt

from accp_adapters.langgraph import ModelVerifier, master_graph, read_interaction, read_results, step
from accp_adapters.stores import SqliteColdStore
from accp_core.aci import AgentContext, SubtaskState, TaskContext
from tests.adapters.langgraph.jobs import thread
from tests.adapters.langgraph.teams.plans import worker
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

DIAMOND = [
    step("a", "Part a"),
    step("b", "Part b", after="a"),
    step("c", "Part c", after="a"),
    step("slow", "Part slow"),
    step("d", "Part d", after=["b", "c"]),
]


async def run(graph: Any, given: Any, asynchronous: bool, config: Any = None) -> dict[str, Any]:
    state: dict[str, Any] = await graph.ainvoke(given, config) if asynchronous else graph.invoke(given, config)
    return state


# No barriers


class Gate:
    """Agents that write down what happens; the slow one ends when the last of the others has ended."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self._opened = threading.Event()

    def agent(self, name: str) -> Callable[[AgentContext], str]:
        def work(_: AgentContext) -> str:
            self.events.append(f"{name} starts")
            if name == "slow":
                assert self._opened.wait(30), "nobody opened the gate: there is a barrier"
            if name == "d":
                self._opened.set()
            self.events.append(f"{name} ends")
            return f"done: result of {name}"

        return work


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_depends_on_one_agent_does_not_wait_for_another(asynchronous: bool) -> None:
    gate = Gate()
    graph = master_graph({name: gate.agent(name) for name in ("a", "b", "c", "d", "slow")}, plan=DIAMOND).compile()
    state = await run(graph, {}, asynchronous)
    assert gate.events.index("slow starts") < gate.events.index("d starts") < gate.events.index("slow ends")
    assert gate.events.index("a ends") < gate.events.index("b starts")
    assert max(gate.events.index("b ends"), gate.events.index("c ends")) < gate.events.index("d starts")
    assert read_interaction(state).task.overall_status == "completed"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_synchronously_one_agent_works_at_a_time(asynchronous: bool) -> None:
    gate = Gate()
    agents = {name: gate.agent(name) for name in ("a", "b", "c", "d")}
    steps = [each for each in DIAMOND if each.agent != "slow"]
    await run(master_graph(agents, plan=steps, mode="synchronous").compile(), {}, asynchronous)
    assert gate.events == [f"{name} {what}" for name in "abcd" for what in ("starts", "ends")]


async def test_times_are_those_of_the_work() -> None:
    gate = Gate()
    graph = master_graph({name: gate.agent(name) for name in ("a", "b", "c", "d", "slow")}, plan=DIAMOND).compile()
    state = await run(graph, {}, True)
    task, results = TaskContext.from_json(state["task_context"]), read_interaction(state).results
    assert task.start_time is not None and task.end_time is not None
    assert task.start_time <= task.end_time
    assert results["Part a"].started == results["Part slow"].started == task.start_time
    assert results["Part b"].started == results["Part a"].ended
    assert max(str(results[f"Part {name}"].ended) for name in ("d", "slow")) == task.end_time
    assert all(AgentContext.from_json(each).last_updated for each in state["agent_contexts"].values())


def test_a_concurrency_under_which_it_would_wait_for_ever_is_refused() -> None:
    graph = master_graph({"a": lambda _: "done: 1"}, plan=[step("a", "A")]).compile()
    with pytest.raises(ValueError, match="expected max_concurrency of at least 3 for a master graph, found 2"):
        graph.invoke({}, {"max_concurrency": 2})
    state = graph.invoke({}, {"max_concurrency": 3})
    assert read_results(state) == {"A": "1"}


# Interrupts, crashes, resumes


class Team:
    """Agents that count their calls; `ask` waits for a person in the middle."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def agent(self, name: str, answer: Any = None) -> Callable[[AgentContext], Any]:
        def work(_: AgentContext) -> Any:
            self.called.append(name)
            return answer() if callable(answer) else answer or f"done: result of {name}"

        return work


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_results_survive_an_interrupt_and_a_resume_in_another_process(tmp_path: Path, asynchronous: bool) -> None:
    team = Team()
    path = str(tmp_path / "state.sqlite")
    steps = [*DIAMOND, step("person", "Ask"), step("last", "Tell", after=["Ask", "d"])]

    async def go(given: Any) -> dict[str, Any]:
        agents = {name: team.agent(name) for name in ("a", "b", "c", "d", "slow", "last")}
        agents["person"] = team.agent("person", lambda: f"done: they said {interrupt('may I?')}")
        async with AsyncExitStack() as astack:
            with ExitStack() as stack:
                saver: Any = (
                    await astack.enter_async_context(AsyncSqliteSaver.from_conn_string(path))
                    if asynchronous
                    else stack.enter_context(SqliteSaver.from_conn_string(path))
                )
                graph = master_graph(agents, plan=steps).compile(checkpointer=saver)
                return await run(graph, given, asynchronous, thread("t"))

    waiting = await go({})
    assert [each.value for each in waiting["__interrupt__"]] == ["may I?"]
    assert sorted(team.called) == ["a", "b", "c", "d", "person", "slow"]
    team.called.clear()
    state = await go(Command(resume="yes"))
    assert team.called == ["person", "last"]
    results = read_interaction(state).results
    assert results["Ask"].text == "they said yes"
    assert results["Part b"].started == results["Part a"].ended
    assert not results.failures


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_two_agents_may_wait_for_somebody_at_once(asynchronous: bool) -> None:
    team = Team()
    ask = {name: team.agent(name, lambda name=name: f"done: {interrupt(name)}") for name in ("x", "y")}
    steps = [step("x", "X"), step("y", "Y"), step("a", "A"), step("z", "Z", after=["X", "A"])]
    agents = {**ask, "a": team.agent("a"), "z": team.agent("z")}
    graph = master_graph(agents, plan=steps).compile(checkpointer=InMemorySaver())
    waiting = await run(graph, {}, asynchronous, thread("t"))
    found = {each.value: each.id for each in waiting["__interrupt__"]}
    assert set(found) == {"x", "y"}
    team.called.clear()
    await run(graph, Command(resume={found["x"]: "one"}), asynchronous, thread("t"))
    assert (team.called.count("a"), team.called.count("z")) == (0, 1)
    state = await run(graph, Command(resume={found["y"]: "two"}), asynchronous, thread("t"))
    assert team.called.count("z") == 1
    assert read_results(state) == {"X": "one", "Y": "two", "A": "result of a", "Z": "result of z"}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_exception_that_nobody_catches_ends_the_run_and_loses_no_result(asynchronous: bool) -> None:
    team = Team()
    broken = [True]

    def answer() -> str:
        if broken[0]:
            raise KeyError("b")
        return "done: at last"

    agents = {"a": team.agent("a"), "b": team.agent("b", answer)}
    plan = [step("a", "A"), step("b", "B", after="a")]
    graph = master_graph(agents, plan=plan, catch=(OSError,)).compile(checkpointer=InMemorySaver())
    with pytest.raises(KeyError):
        await run(graph, {}, asynchronous, thread("t"))
    broken[0] = False
    state = await run(graph, None, asynchronous, thread("t"))
    assert read_results(state) == {"A": "result of a", "B": "at last"}
    assert team.called == ["a", "b", "b"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_failure_before_a_resume_stays_a_failure(asynchronous: bool) -> None:
    team = Team()

    def fail() -> str:
        raise OSError("sent, then the line broke")

    agents = {"mail": team.agent("mail", fail), "x": team.agent("x", lambda: f"done: {interrupt('x')}")}
    graph = master_graph(agents, plan=[step("mail", "Mail"), step("x", "X")]).compile(checkpointer=InMemorySaver())
    await run(graph, {}, asynchronous, thread("t"))
    state = await run(graph, Command(resume="y"), asynchronous, thread("t"))
    assert team.called.count("mail") == 1
    assert read_results(state) == {"Mail": "failed: OSError: sent, then the line broke", "X": "y"}


# Failure is an answer


def fails(error: Exception) -> Callable[[AgentContext], str]:
    def work(_: AgentContext) -> str:
        raise error

    return work


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_agents_exception_fails_its_subtask_and_says_why_everywhere(asynchronous: bool) -> None:
    team = Team()
    told: list[Any] = []

    def report(state: Any) -> dict[str, Any]:
        context = read_interaction(state)
        told.append(context)
        return {"messages": [AIMessage(context.results["Tell"].reason)]}

    agents = {"crm": fails(OSError("no route")), "mail": team.agent("mail"), "web": team.agent("web")}
    plan = [step("crm", "Find churn"), step("mail", "Tell", after="crm"), step("web", "Look")]
    state = await run(master_graph(agents, plan=plan, report=report).compile(), {}, asynchronous)
    stopped = "stopped: subtask 's1' (Find churn) failed: OSError: no route"
    assert read_results(state) == {
        "Find churn": "failed: OSError: no route",
        "Look": "result of web",
        "Tell": f"failed: {stopped}",
    }
    (context,) = told
    assert context.results.failures == {"Find churn": "OSError: no route", "Tell": stopped}
    assert context.results["Tell"].stopped_by == "s1"
    assert "OSError: no route" in str(state["aci_progress"])
    assert state["messages"][-1].text == stopped
    assert team.called == ["web"]
    assert TaskContext.from_json(state["task_context"]).overall_status == "failed"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_verifiers_exception_leaves_one_item_unverified(asynchronous: bool) -> None:
    team = Team()

    def verifier(subtask: str, item: str, abstract: str) -> str | None:
        if item == "A":
            raise TimeoutError("the judge sleeps")
        return None

    agents = {name: team.agent(name) for name in "abc"}
    plan = [step("a", "A"), step("b", "B"), step("c", "C", after="a")]
    state = await run(master_graph(agents, plan=plan, verifier=verifier).compile(), {}, asynchronous)
    results = read_interaction(state).results
    assert results["A"].state is SubtaskState.UNVERIFIED
    assert results["A"].reason == "the result was not judged: TimeoutError: the judge sleeps"
    assert read_results(state)["A"] == "unverified: result of a"
    assert results["B"].done
    assert "s1" in results["C"].reason
    assert sorted(team.called) == ["a", "b"]


def test_a_verifiers_exception_that_is_not_to_be_caught_ends_the_run() -> None:
    def verifier(subtask: str, item: str, abstract: str) -> str | None:
        raise KeyError(item)

    graph = master_graph({"a": lambda _: "done: 1"}, plan=[step("a", "A")], verifier=verifier, catch=())
    with pytest.raises(KeyError, match="A"):
        graph.compile().invoke({})


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_verdict_is_asked_for_once_although_an_interrupt_comes(asynchronous: bool) -> None:
    team = Team()
    judged: list[str] = []

    def verifier(subtask: str, item: str, abstract: str) -> str | None:
        judged.append(item)
        return None if item != "X" else str(interrupt("is it good?")) or None

    agents = {name: team.agent(name) for name in "ax"}
    plan = [step("a", "A", items=[f"{n}" for n in range(12)]), step("x", "X")]
    agents["a"] = team.agent("a", "\n".join(f"{n}: done: result {n}" for n in range(1, 13)))
    graph = master_graph(agents, plan=plan, verifier=verifier).compile(checkpointer=InMemorySaver())
    await run(graph, {}, asynchronous, thread("t"))
    state = await run(graph, Command(resume=""), asynchronous, thread("t"))
    assert sorted(judged) == sorted([*map(str, range(12)), "X", "X"])
    assert sorted(team.called) == ["a", "x"]
    assert read_interaction(state).task.overall_status == "completed"


async def test_an_agent_that_takes_too_long_has_failed() -> None:
    async def slow(_: AgentContext) -> str:
        await asyncio.sleep(600)
        return "done: never"

    graph = master_graph({"a": slow}, plan=[step("a", "A")], timeout=0.05).compile()
    assert read_results(await graph.ainvoke({})) == {"A": "failed: TimeoutError: no answer within 0.05 s"}
    with pytest.raises(TypeError, match="expected `ainvoke` with a timeout"):
        graph.invoke({})


async def test_a_timeout_of_the_agents_own_is_its_own_reason() -> None:
    async def slow(_: AgentContext) -> str:
        raise TimeoutError("the CRM sleeps")

    graph = master_graph({"a": slow}, plan=[step("a", "A")], timeout=60).compile()
    assert read_results(await graph.ainvoke({})) == {"A": "failed: TimeoutError: the CRM sleeps"}


@alternating("retry_on", [ConnectionError, [ConnectionError], lambda error: "again" in str(error)])
async def test_a_retry_policy_runs_an_agent_again_before_it_has_failed(retry_on: Any, asynchronous: bool) -> None:
    left = [ConnectionError("again"), ConnectionError("again"), None]
    ran: list[str] = []

    def agent(context: AgentContext) -> str:
        ran.append(context.subtask_id)
        if error := left.pop(0):
            raise error
        return "done: at last"

    policies = [
        RetryPolicy(retry_on=KeyError),
        RetryPolicy(initial_interval=0.001, max_attempts=3, retry_on=retry_on, jitter=False),
    ]
    agents = {"a": agent, "b": fails(ConnectionError("again"))}
    plan = [step("a", "A", repeatable=True), step("b", "B")]
    graph = master_graph(agents, plan=plan, retry_policy=policies).compile(checkpointer=InMemorySaver())
    state = await run(graph, {}, asynchronous, thread("t"))
    assert read_results(state) == {"A": "at last", "B": "failed: ConnectionError: again"}
    assert ran == ["s1"] * 3


# Work is not repeated to please a parser


def mailer(answer: str) -> tuple[Any, ScriptedModel, list[str]]:
    """Return an agent that sends a mail each time it works and then gives `answer`, its model, and the mails."""
    sent: list[str] = []

    @tool
    def send_mail(to: str) -> str:
        """Send a mail."""
        sent.append(to)
        return f"250 accepted for {to}"

    def act(messages: list[BaseMessage]) -> AIMessage:
        has_sent = isinstance(messages[-1], ToolMessage)
        return AIMessage(answer) if has_sent else calls(call("send_mail", to="ana@example.com"))

    send: BaseTool = send_mail
    agent, model = worker([act], send)
    return agent, model, sent


ANSWERS = ["Done.", "", "ok", "✅", "1) yes\n2) no", "I did what you asked.", "done:", "|a|b|\n|-|-|"]


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_mail_is_sent_once_whatever_its_agent_answers(answer: str) -> None:
    agent, model, sent = mailer(answer)
    plan = [step("mail", "Write to Ana", items=["Send it"])]
    state = master_graph({"mail": agent}, plan=plan, retries=5).compile().invoke({})
    assert (sent, len(model.received)) == (["ana@example.com"], 2)
    result = read_interaction(state).results["Write to Ana"]
    assert result.state is SubtaskState.UNVERIFIED
    assert result.text == f"unverified: {answer}" if answer else "no answer" in result.text


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_reporter_reads_the_result_from_the_transcript(asynchronous: bool) -> None:
    agent, _, sent = mailer("Done.")
    reporter = ScriptedModel(script=["done: mail to ana@example.com accepted with 250"])
    plan = [step("mail", "Write to Ana", items=["Send it"])]
    graph = master_graph({"mail": agent}, plan=plan, reporter=reporter).compile()
    state = await run(graph, {}, asynchronous)
    assert read_results(state) == {"Write to Ana": "mail to ana@example.com accepted with 250"}
    assert sent == ["ana@example.com"]
    ((prompt,),) = reporter.received
    assert '["call send_mail","{\\"to\\":\\"ana@example.com\\"}"]' in prompt.text
    assert '["result of send_mail","250 accepted for ana@example.com"]' in prompt.text
    assert reporter.tool_names == []


def test_a_reporter_is_asked_only_where_words_are_missing() -> None:
    reporter = ScriptedModel(script=["done: never asked"])
    agent, _, _ = mailer("done: sent to Ana")
    graph = master_graph({"mail": agent}, plan=[step("mail", "Write to Ana")], reporter=reporter).compile()
    assert read_results(graph.invoke({})) == {"Write to Ana": "sent to Ana"}
    assert reporter.received == []


def breaks(_: Any) -> AIMessage:
    raise ConnectionError("no model")


def asks(_: Any) -> AIMessage:
    return AIMessage(interrupt("was it sent?"))


# What the mailer says, what the reporter says to that, the verifier, and what the result says.
REPORTS: list[tuple[str, Any, Any, str]] = [
    *(
        ("Done.", report, None, "unverified: Done.")
        for report in (
            *("not done: the messages do not say", "failed: 550", "I cannot tell.", "", "not done", "1: not done: no"),
            *('{"1": {"done": false}}', "Done."),
        )
    ),
    ("Done.", breaks, None, "the reporter failed: ConnectionError: no model"),
    ("Done.", asks, None, "the reporter failed: GraphInterrupt"),
    ("Done.", "done: accepted with 250", lambda *claim: "say to whom", "failed: say to whom"),
    ("done: accepted with 250", "", ModelVerifier(ScriptedModel(script=[" "])), "unverified: accepted with 250"),
]


@alternating(("answer", "report", "verifier", "said"), REPORTS)
async def test_a_mail_is_sent_once_whatever_a_reporter_and_a_verifier_say(
    answer: str, report: Any, verifier: Any, said: str, asynchronous: bool
) -> None:
    agent, _, sent = mailer(answer)
    plan = [step("mail", "Write to Ana", items=["Send it"])]
    reporter = ScriptedModel(script=[report])
    graph = master_graph({"mail": agent}, plan=plan, reporter=reporter, verifier=verifier, retries=5)
    state = await run(graph.compile(checkpointer=InMemorySaver()), {}, asynchronous, thread("t"))
    result = read_interaction(state).results["Write to Ana"]
    assert (sent, "__interrupt__" in state) == (["ana@example.com"], False)
    assert said in f"{result.text} {result.reason}"


@alternating("answer", ["Done.", "done: accepted with 250"])
async def test_a_mail_is_sent_once_though_what_comes_after_it_ends_the_run(answer: str, asynchronous: bool) -> None:
    agent, _, sent = mailer(answer)
    broken = [OSError("disk full")]

    def file(_: AgentContext) -> str:
        if broken:
            raise broken.pop()
        return "done: filed as 7"

    plan = [step("mail", "Write to Ana", items=["Send it"]), step("file", "File it")]
    reporter = ScriptedModel(script=["not done: the messages do not say"])
    options: Any = {"plan": plan, "reporter": reporter, "catch": (ValueError,), "mode": "synchronous"}
    saver = InMemorySaver()
    with pytest.raises(OSError, match="disk full"):
        graph = master_graph({"mail": agent, "file": file}, **options).compile(checkpointer=saver)
        await run(graph, {}, asynchronous, thread("t"))
    graph = master_graph({"mail": agent, "file": file}, **options).compile(checkpointer=saver)
    state = await run(graph, None, asynchronous, thread("t"))
    assert (sent, read_results(state)["File it"]) == (["ana@example.com"], "filed as 7")


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_mail_is_sent_once_though_its_result_cannot_be_stored(asynchronous: bool) -> None:
    letter = "done: " + " ".join(f"line {n} of the letter" for n in range(400))
    agent, _, sent = mailer(letter)
    read: list[str] = []

    def last(context: AgentContext) -> str:
        read.extend(context.context_uri)
        return "done: told 7"

    store = SqliteColdStore()
    store.close()
    plan = [step("mail", "Write to Ana", items=["Send it"]), step("last", "Tell", after="mail")]
    policy = RetryPolicy(initial_interval=0.001, retry_on=Exception)
    graph = master_graph({"mail": agent, "last": last}, plan=plan, store=store, retry_policy=policy)
    state = await run(graph.compile(checkpointer=InMemorySaver()), {}, asynchronous, thread("t"))
    assert (sent, read_results(state)["Tell"]) == (["ana@example.com"], "told 7")
    assert [letter.removeprefix("done: ")] == list(state["aci_texts"].values())
    assert len(read) == 1


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_retry_policy_is_for_the_steps_that_are_repeatable(asynchronous: bool) -> None:
    team = Team()

    def broken() -> str:
        raise ConnectionError("again")

    agents = {name: team.agent(name, broken) for name in ("read", "mail")}
    plan = [step("read", "Read", repeatable=True), step("mail", "Mail")]
    policy = RetryPolicy(initial_interval=0.001, max_attempts=2, jitter=False)
    graph = master_graph(agents, plan=plan, retry_policy=policy, retries=0).compile()
    state = await run(graph, {}, asynchronous)
    assert (team.called.count("read"), team.called.count("mail")) == (2, 1)
    assert read_results(state) == dict.fromkeys(["Read", "Mail"], "failed: ConnectionError: again")


def test_what_an_agent_calls_not_done_is_tried_again_with_the_reason() -> None:
    seen: list[AgentContext] = []

    def agent(context: AgentContext) -> str:
        seen.append(context)
        return "not done: busy" if len(seen) == 1 else "done: six"

    state = master_graph({"crm": agent}, plan=[step("crm", "Count")]).compile().invoke({})
    assert read_results(state) == {"Count": "six"}
    assert seen[1].context == ({"feedback": "busy"},)


# What it cost


def reported(text: str, read: int, wrote: int) -> AIMessage:
    usage: Any = {"input_tokens": read, "output_tokens": wrote, "total_tokens": read + wrote}
    return AIMessage(text, usage_metadata=usage)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_calls_and_tokens_are_told_for_each_agent(asynchronous: bool) -> None:
    known = ScriptedModel(script=[reported("done: one", 100, 7)])
    counted = ScriptedModel(script=["done: two"])
    agents = {"known": known, "counted": counted, "none": lambda _: "done: three"}
    plan = [step("known", "A"), step("counted", "B"), step("known", "C", after="A"), step("none", "D")]
    state = await run(master_graph(agents, plan=plan).compile(), {}, asynchronous)
    usage = read_interaction(state).results.usage
    assert (usage["known"].calls, usage["known"].input_tokens, usage["known"].output_tokens) == (2, 200, 14)
    assert usage["counted"].calls == 1
    assert usage["counted"].input_tokens > usage["counted"].output_tokens > 0
    assert usage["none"].calls == 0


def test_a_model_that_a_function_calls_is_counted_and_so_is_a_call_that_fails() -> None:
    def broken(_: Any) -> AIMessage:
        raise ConnectionError("no model")

    model = ScriptedModel(script=[reported("x", 10, 1), broken])

    def agent(context: AgentContext) -> str:
        model.invoke("first")
        model.invoke("second")
        return "done: never"

    state = master_graph({"a": agent}, plan=[step("a", "A")]).compile().invoke({})
    result = read_interaction(state).results["A"]
    assert result.text == "failed: ConnectionError: no model"
    assert (result.usage.calls, result.usage.input_tokens) == (2, 10)


def test_what_an_agent_cost_before_an_interrupt_is_not_forgotten() -> None:
    @tool
    def ask(query: str) -> str:
        """Ask a person."""
        return str(interrupt(query))

    usage: Any = {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55}
    asking = AIMessage("", tool_calls=[call("ask", query="may I?")], usage_metadata=usage)
    send: BaseTool = ask
    agent, _ = worker([asking, reported("done: yes", 60, 6)], send)
    graph = master_graph({"a": agent}, plan=[step("a", "A")]).compile(checkpointer=InMemorySaver())
    graph.invoke({}, thread("t"))
    state = graph.invoke(Command(resume="yes"), thread("t"))
    found = read_interaction(state).results["A"].usage
    assert (found.calls, found.input_tokens, found.output_tokens) == (2, 110, 11)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_resume_takes_results_in_the_order_in_which_they_came(asynchronous: bool) -> None:
    team = Team()
    last_ended = threading.Event()

    def late() -> str:
        assert last_ended.wait(30)
        return "done: 17 late ones"

    def after_early() -> str:
        last_ended.set()
        return "done: 3 more"

    agents: dict[str, Any] = {
        "late": team.agent("late", late),
        "early": team.agent("early"),
        "after_late": team.agent("after_late"),
        "after_early": team.agent("after_early", after_early),
        "person": team.agent("person", lambda: f"done: {interrupt('may I?')}"),
    }
    plan = [step(name, name, after=name.removeprefix("after_") if "_" in name else ()) for name in agents]
    graph = master_graph(agents, plan=plan).compile(checkpointer=InMemorySaver())
    await run(graph, {}, asynchronous, thread("t"))
    assert sorted(team.called) == sorted(agents)
    team.called.clear()
    state = await run(graph, Command(resume="yes"), asynchronous, thread("t"))
    assert team.called == ["person"]
    assert read_interaction(state).task.overall_status == "completed"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_exception_waits_for_work_that_is_under_way(asynchronous: bool) -> None:
    team = Team()
    broke = threading.Event()

    def under_way() -> str:
        assert broke.wait(30)
        return "done: sent after all"

    def breaks() -> str:
        broke.set()
        raise KeyError("b")

    agents = {"a": team.agent("a", under_way), "b": team.agent("b", breaks)}
    graph = master_graph(agents, plan=[step("a", "A"), step("b", "B")], catch=()).compile(checkpointer=InMemorySaver())
    for _ in range(2):
        with pytest.raises(KeyError):
            await run(graph, {} if not team.called else None, asynchronous, thread("t"))
    assert (team.called.count("a"), team.called.count("b")) == (1, 2)
