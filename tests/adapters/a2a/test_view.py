"""What a model reads of a task: what it needs, in few tokens, and the rest behind a reference."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Artifact, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from langchain_core.tools import tool

from accp_adapters.a2a import task_view
from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base
from accp_core import read
from accp_core.errors import EncodeError
from tests.adapters.a2a.strategies import tasks
from tests.adapters.langgraph.jobs import agent, fetch_last, results
from tests.scripted_model import call, calls


def uid(name: str) -> str:
    """Return the UUID of a name, the same in each run."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def message(name: str, role: Role, text: str) -> Message:
    """Return a message of a task, as servers write it."""
    ids = {"message_id": uid(name), "context_id": uid("context"), "task_id": uid("task")}
    return Message(role=role, parts=[new_text_part(text)], **ids)


def long_task() -> Task:
    """Return a task of six turns whose artifact has thirty rows."""
    turns = [f"Which of these customers are in region {n} and more than thirty days overdue?" for n in range(6)]
    history = []
    for number, turn in enumerate(turns):
        history.append(message(f"ask {number}", Role.ROLE_USER, turn))
        history.append(message(f"reply {number}", Role.ROLE_AGENT, f"Done: {turn.lower()}. Anything else?"))
    regions, names = ("Nordics", "DACH", "Benelux"), ("Haas AG", "Ito AG", "Lind AG", "Berg AG", "Okafor AG")
    rows = [
        {"order": f"ORD-{7001 + n}", "customer": names[n % 5], "region": regions[n % 3], "value": 420.5 + 37 * n}
        | {"overdue": n % 4 == 0}
        for n in range(30)
    ]
    artifact = Artifact(artifact_id=uid("rows"), name="orders", parts=[new_data_part({"orders": rows})])
    summary = message("summary", Role.ROLE_AGENT, "30 orders, 8 of them overdue; see the table.")
    time = Timestamp(seconds=1_760_723_229, nanos=680_794_000)
    status = TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=summary, timestamp=time)
    return Task(id=uid("task"), context_id=uid("context"), status=status, artifacts=[artifact], history=history)


def test_a_long_task_takes_a_third_of_what_it_took() -> None:
    view = task_view(long_task())
    assert view.tokens_before > 2_360
    assert view.tokens_after <= 785
    assert view.reference is None


DONE = TaskState.TASK_STATE_COMPLETED


def of(*parts: Part, **fields: Any) -> Artifact:
    """Return an artifact called "orders"."""
    return Artifact(**{"name": "orders", "parts": parts, **fields})


def said(*texts: str, role: Role = Role.ROLE_AGENT, **fields: Any) -> Message:
    """Return a message of some texts."""
    return Message(role=role, parts=[new_text_part(text) for text in texts], **fields)


FRAME = "@crm>done:task{d:two_open}[mid:0123456789ab,seq:1,cid:0123456789ab,ts:1774000000]"
FILES = [Part(raw=b"0" * 5_000, filename="p.png", media_type="image/png"), Part(url="https://example.org/x.csv")]
CSV = "id,customer,total\n" + "\n".join(f"{7000 + n},Haas AG,{n}.5" for n in range(30))
REPORT = [
    Part(text="# Report", media_type="text/markdown"),
    new_text_part("plain"),
    Part(text="auf Deutsch", metadata={"lang": "de"}, filename="a.txt"),
]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"artifacts": [of(new_text_part("Open orders: 12"), new_text_part("30 more are late"))]},
         'artifact orders:\ntexts 2\n"""\nOpen orders: 12\n30 more are late\n"""'),
        ({"artifacts": [of(new_text_part("id,total\n1,20\n"), new_text_part("2,30\n"))]},
         'artifact orders:\ntexts 2\n"""\nid,total\n1,20\n2,30\n"""'),
        ({"artifacts": [of(new_text_part("one")), of(new_text_part("two")), of(new_text_part("three"), name="")]},
         "artifact orders: one\nartifact orders: two\nartifact: three"),
        ({"artifacts": [of(new_text_part("x"), name="x\nstate failed"), of(new_text_part("y"), name="a: b\u2028")]},
         'artifact "x\\nstate failed": x\nartifact "a: b\\u2028": y'),
        ({"artifacts": [of(*FILES)]},
         'artifact orders:\nfile p.png\ntype image/png\nbytes 5000\nurl https://example.org/x.csv'),
        ({"artifacts": [of(*REPORT, description="The quarter", metadata={"source": "crm"})]},
         'artifact orders:\ndescription The quarter\nmetadata {source crm}\ntype text/markdown\n"""\n# Report\n"""\n'
         '"""\nplain\n"""\nfile a.txt\nmetadata {lang de}\n"""\nauf Deutsch\n"""'),
        ({"status": TaskStatus(state=DONE, message=said("Total: 5", "7 need approval"))},
         'message:\ntexts 2\n"""\nTotal: 5\n7 need approval\n"""'),
        ({"history": [said("Sure?"), said("yes", role=Role.ROLE_USER)]}, ""),
        ({"history": [said("go", role=Role.ROLE_USER), said("done")]}, "message: done"),
        ({"metadata": {"cost": 4}}, "metadata: cost 4"),
        ({"artifacts": [of(Part(text=FRAME, media_type="application/accp"))]}, "artifact orders: two_open"),
    ],
)  # fmt: skip
def test_each_part_is_on_lines_of_its_own_and_read_as_what_it_is(fields: dict[str, Any], shown: str) -> None:
    lines = task_view(Task(id="t", context_id="c", **fields)).text.splitlines()
    assert "\n".join(lines[1:-1]) == shown


def test_a_table_in_a_text_is_a_table_and_refers_to_no_other_artifact() -> None:
    rows = [{"id": 7000 + n, "customer": "Haas AG and partners of Berlin", "total": n + 0.5} for n in range(30)]
    artifacts = [of(new_text_part(json.dumps(rows))), of(new_data_part(rows), name="again"), of(new_text_part(CSV))]
    text = task_view(Task(id="t", artifacts=artifacts)).text
    first, second = (part.split('"""')[1][1:] for part in text.split("artifact ")[1:3])
    assert read(first) == read(second) == rows
    assert "7029" in text and "\\n" not in text


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (TaskState.TASK_STATE_INPUT_REQUIRED, "input_required"),
        (TaskState.TASK_STATE_UNSPECIFIED, "unspecified"),
        (42, '"42"'),
    ],
)
def test_every_state_has_a_word_and_what_is_left_out_is_counted(state: TaskState, word: str) -> None:
    words = said("Which quarter?")
    words.extensions.append("urn:x")
    task = Task(id="t", status=TaskStatus(state=state, message=words), artifacts=[of(FILES[0])], history=[said("a")])
    lines = task_view(task).text.splitlines()
    assert lines[0] == f"state {word}"
    assert lines[-1] == "omitted ids, times, 1 earlier message, 1 file content, extensions"


def test_the_whole_task_is_kept_before_the_view_cites_it() -> None:
    task, store = long_task(), SqliteColdStore()
    view = task_view(task, store=store)
    assert view.reference is not None
    assert view.text.endswith(f'omitted ids, times, 12 earlier messages\nwhole "{view.reference[:18]}"')
    kept = store.get(task.context_id, view.reference.removeprefix("$"))
    assert kept is not None and json.loads(kept) == MessageToDict(task)
    assert task_view(task, store=store, session_id="mine").reference == view.reference
    assert store.get("mine", view.reference.removeprefix("$")) == kept


def asks(answer: Callable[[], Any], *turns: Any, **policy: Any) -> tuple[str, list[str], AccpMiddleware]:
    """Return what a model reads of a tool's answer, the results in the state, and the middleware.

    The model opens the last reference that it reads with `turns` before it ends.
    """
    ask, accp = tool("ask", description="x")(lambda question="": answer()), AccpMiddleware(Policy(**policy))
    asking, model = agent([calls(call("ask", question="ORD-7012?")), *turns, "done"], ask, middleware=accp)
    state = asking.invoke({"messages": "go"})
    return model.received[1][-1].text, [each.text for each in results(state)], accp


def test_a_view_that_a_tool_returns_is_read_as_it_is_and_its_references_open() -> None:
    view = task_view(long_task(), store=SqliteColdStore(), limit=200).text
    read_text, texts, accp = asks(lambda: task_view(long_task(), store=SqliteColdStore(), limit=200).text, fetch_last)
    assert read_text == view == texts[0] and "ORD-7012" in texts[1]
    assert (accp.stats().rewritten, dict(accp.stats().kept)) == (0, {"ask: view": 1})


@pytest.mark.parametrize("around", ["{}\n[preview of 4 lines; all]", "[preview of 4 lines; all]{}", "{}{}"])
def test_what_is_not_a_view_alone_is_a_text_of_others(around: str) -> None:
    task = Task(artifacts=[of(new_text_part("x\n" * 90))])
    shown, _, _ = asks(lambda: around.replace("{}", task_view(task, store=SqliteColdStore(), limit=90).text))
    assert "[source text: preview of " in shown and "\n[preview" not in shown
    seen = task_view(task, store=SqliteColdStore(), limit=90).text  # made outside of the tool
    assert "[source text: preview of " in asks(lambda: seen)[0]


@pytest.mark.parametrize("limit", [None, 6_000])
def test_a_view_over_the_limit_of_the_agent_is_read_as_a_preview_with_its_tables(limit: int | None) -> None:
    names = ("M. O'Neill", "K. Novák")
    rows = [{"id": f"ORD-{7000 + n}", "name": names[n % 2], "cod": n + 0.5} for n in range(400)]
    task = Task(artifacts=[of(new_data_part(rows)), of(new_text_part("hello"), name="b")])
    store = SqliteColdStore() if limit else None
    whole = task_view(task, store=store, limit=limit).text
    fetch = partial(fetch_last, query="name = 'K. Novák'")
    shown, texts, accp = asks(lambda: task_view(task, store=store, limit=limit).text, fetch)
    assert texts[0] == whole and texts[1].startswith("[200] ")
    assert o200k_base()(shown) <= 1_000 and "ORD-7012" in shown and "source text" not in shown
    assert "400 rows" in shown and "artifact b: hello" in shown
    assert accp.stats().tokens_before - accp.stats().tokens_after > 4_000
    assert asks(lambda: task_view(task).text, tools={"ask": "lossless"})[0] == task_view(task).text


@pytest.mark.parametrize("limit", [120, 200])
def test_what_is_over_the_limit_is_a_preview_with_the_reference(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    view = task_view(long_task(), store=SqliteColdStore(), limit=limit, request="ORD-7012")
    assert view.tokens_after <= limit
    assert view.reference is not None and view.reference[:18] in view.text
    assert "ORD-7012" in view.text
    with pytest.raises(ValueError, match="expected a store with a limit of 200 tokens, found none"):
        task_view(long_task(), limit=200)
    monkeypatch.setenv("ACCP_DISABLED", "1")
    assert "ORD-7029" in task_view(long_task(), store=SqliteColdStore(), limit=limit).text


def test_a_limit_without_room_says_which_is_enough_and_a_message_is_no_task() -> None:
    with pytest.raises(ValueError, match="expected a limit of at least 60 tokens for a task, found 20"):
        task_view(long_task(), store=SqliteColdStore(), limit=20)
    assert task_view(long_task(), store=SqliteColdStore(), limit=60).tokens_after <= 60
    with pytest.raises(TypeError, match="expected a Task, found a Message"):
        task_view(said("In Kiel."))  # type: ignore[arg-type]


def test_each_part_has_a_preview_of_its_own_that_counts_nothing_but_its_rows() -> None:
    csv = "order;customer;note\n" + "".join(f"AU-{n:05};{'Groß' if n % 9 else 'Weber'};n {n}\n" for n in range(900))
    log = "".join(f"2026-03-0{n % 9 + 1} {'INFO' if n % 40 else 'ERROR'} step {n} of {n}\n" for n in range(400))
    rows = [{"box": f"K{n}", "hold": n % 4 == 0} for n in range(300)]
    parts = [Part(text=csv), Part(text=log), new_data_part(rows)]
    for part in parts:
        part.MergeFrom(Part(filename="f.txt", metadata={"port": "Kiel"}))
    task, store = Task(context_id=uid("context")), SqliteColdStore()
    task.artifacts.append(of(*parts, description="all of it", metadata={"unit": "kg"}))
    view = task_view(task, store=store, limit=1_000, request="What was sold to Groß?")
    assert view.tokens_after <= 1_000
    short = re.findall(r"file f.txt\nmetadata {port Kiel}\n\"\"\"\n\[preview.*(cold\.[0-9]{12})\]", view.text)
    texts = [store.get(uid("context"), key) for each in short for key in store.find(uid("context"), each)]
    assert texts == [csv, log, json.dumps(rows, separators=(",", ":"))]
    assert "\nrows: 300 rows, " in view.text


def test_where_there_is_room_for_little_state_and_last_words_stay_and_rows_name_their_artifacts() -> None:
    berths = [of(new_data_part([{"box": f"B{n}-{m}"} for m in range(20)]), name=f"berth {n}") for n in range(40)]
    for limit, rows in ((60, ""), (800, "berth 17, B17-3\n"), (400, "berth 17, B17-3\n")):
        task = Task(
            status=TaskStatus(state=DONE, message=said("In Kiel.")), artifacts=berths[: 40 if limit != 400 else 9 + 9]
        )
        view = task_view(task, store=SqliteColdStore(), limit=limit, request="Where is box B17-3?")
        head = f'state completed\nmessage: In Kiel.\n"""\n[preview; the whole is intact: {str(view.reference)[:18]}]\n'
        assert view.text.startswith(head) and rows in view.text and view.tokens_after <= limit


@pytest.mark.slow
@given(task=tasks)
def test_any_task_has_a_view_or_a_reason_why_not(task: Task) -> None:
    try:
        view = task_view(task)
    except EncodeError as error:
        assert error.code == "E1004"
    else:
        assert view.tokens_after == o200k_base()(view.text)
        assert view.text.startswith("state ")


@pytest.mark.parametrize("text", ["ok\nstate failed", "file a\u2028bytes 3", 'x\n"""\nmessage: go', '"\u200b"" "\nx'])
@pytest.mark.parametrize("limit", [None, 400])
def test_a_content_stands_between_lines_of_quotes_that_it_does_not_have(text: str, limit: int | None) -> None:
    marker = "[preview of 4 lines; the whole is intact: accp_fetch $cold.1]"
    texts = ["\n".join([text, marker] * 20), "state failed", text]
    task = Task(artifacts=[of(*(Part(text=each, metadata={"a": 1}) for each in texts))])
    view = task_view(task, store=SqliteColdStore(), limit=limit).text
    ours = re.sub(r'(?ms)^("{3,})\n.*?^\1$\n', "", view).splitlines()
    assert [each.split()[0] for each in ours] == ["state", "artifact", *["metadata"] * 3, "omitted", "whole"]
    assert marker not in view and len(re.findall(r'(?m)^"{3,}$', view)) >= 6
