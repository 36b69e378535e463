"""Exports of LangSmith, made of its SDK's own objects: each model call is counted once, however they are written."""

import datetime
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langsmith import schemas
from langsmith.run_trees import RunTree

from accp_adapters.replay import Findings, Run, parse_runs

START: list[BaseMessage] = [SystemMessage("Book."), HumanMessage("To Seattle")]
ASKS = AIMessage("", tool_calls=[{"name": "search", "args": {"to": "SEA"}, "id": "c1"}])
RESULT = ToolMessage("HAT069 121", tool_call_id="c1", name="search")
ENDS = AIMessage("HAT069 costs 121")
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
TEXTS = ["Book.", "To Seattle", '{"to":"SEA"}', "HAT069 121", "HAT069 costs 121"]
Record = dict[str, Any]


def traced() -> Record:
    """Return the tree of one run of a graph: the root and each node hold the messages of the model calls, too."""
    root = RunTree(name="LangGraph", run_type="chain", inputs={"messages": [dumpd(START[1])]})
    for prompt, answer in ((START, ASKS), ([*START, ASKS, RESULT], ENDS)):
        node = root.create_child(name="agent", run_type="chain", inputs={"messages": list(map(dumpd, prompt))})
        extra = {"invocation_params": {"tools": TOOLS}}
        inputs = {"messages": [list(map(dumpd, prompt))]}
        call = node.create_child(name="ChatOpenAI", run_type="llm", inputs=inputs, extra=extra)
        call.end(outputs={"generations": [[{"text": answer.text, "message": dumpd(answer)}]]})
        node.end(outputs={"messages": [dumpd(answer)]})
    tool = root.create_child(name="search", run_type="tool", inputs={"to": "SEA"})
    tool.end(outputs={"output": dumpd(RESULT)})
    root.end(outputs={"messages": list(map(dumpd, [*START, ASKS, RESULT, ENDS]))})
    whole: Record = json.loads(json.dumps(_dumped(root), default=str))
    return whole


def _dumped(tree: RunTree) -> Record:
    fields = tree.model_dump(exclude={"ls_client", "parent_run", "child_runs", "replicas"})
    return fields | {"child_runs": list(map(_dumped, tree.child_runs))}


def rows_of(tree: Record) -> Iterator[Record]:
    """Yield the run and its descendants as an export of rows has them."""
    yield {name: value for name, value in tree.items() if name != "child_runs"}
    for child in tree["child_runs"]:
        yield from rows_of(child)


def in_texts(row: Record) -> Record:
    """Return a row of a bulk export, whose objects are JSON in texts."""
    return row | {name: json.dumps(row[name]) for name in ("inputs", "outputs", "extra")}


def lines(*records: Any) -> str:
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in records)


TREE = traced()
ROWS = list(rows_of(TREE))
RUN = schemas.Run(**{name: value for name, value in TREE.items() if name in schemas.Run.model_fields})


@pytest.mark.parametrize(
    "export",
    [
        lines(TREE),
        lines(RUN.model_dump_json()),
        lines(ROWS),
        lines({"runs": ROWS}),
        lines(*ROWS),
        lines(*reversed(ROWS)),
        lines(*map(in_texts, ROWS)),
        lines(*(in_texts({**row, "trace_id": None, "parent_run_id": None}) for row in ROWS)),
        lines(*ROWS, TREE),
    ],
    ids=["tree", "schema", "list", "runs", "rows", "reversed", "bulk", "dotted order", "rows and their tree"],
)
def test_each_model_call_of_an_export_counts_once(export: str) -> None:
    run = understood(export)
    assert [message.text for message in run.messages] == TEXTS
    assert [(call.prompt, call.output) for call in run.calls] == [((0, 1), (2,)), ((0, 1, 2, 3), (4,))]
    assert all('"search"' in call.tools for call in run.calls)


@pytest.mark.parametrize(
    ("name", "texts"),
    [("inputs", TEXTS[:3]), ("outputs", TEXTS[:4]), ("extra", TEXTS)],
    ids=["inputs", "outputs", "extra"],
)
def test_a_row_of_a_bulk_export_that_breaks_off_is_named_and_the_others_are_read(name: str, texts: list[str]) -> None:
    rows = list(map(in_texts, ROWS))
    last = max(number for number, row in enumerate(rows) if row["run_type"] == "llm")
    rows[last] |= {name: rows[last][name][:-9]}
    findings = Findings()
    (run,) = parse_runs(lines(*rows), path="runs.jsonl", findings=findings)
    assert [message.text for message in run.messages] == texts
    assert list(map(str, findings.not_understood())) == [
        f"1 run of LangSmith whose {name} are JSON that breaks off (runs.jsonl:{last + 1})"
    ]


def understood(export: str) -> Run:
    findings = Findings()
    (run,) = parse_runs(export, path="runs.jsonl", findings=findings)
    assert findings.not_understood() == []
    return run


def test_an_example_of_a_data_set_is_a_call_where_its_input_is_a_prompt() -> None:
    given = {"id": uuid.uuid4(), "dataset_id": uuid.uuid4(), "created_at": datetime.datetime(2026, 1, 1)}
    prompt = {"messages": list(map(dumpd, START))}
    example = schemas.Example(**given, inputs=prompt, outputs={"messages": [dumpd(ENDS)]})
    assert [message.text for message in understood(example.model_dump_json()).messages] == [*TEXTS[:2], TEXTS[4]]
    findings = Findings()
    other = schemas.Example(**given, inputs={"question": "q"}, outputs={"answer": "a"})
    assert parse_runs(other.model_dump_json(), path="runs.jsonl", findings=findings) == []
    (finding,) = findings.not_understood()
    assert str(finding) == "1 input of a LangSmith example that is no prompt (runs.jsonl:1)"
