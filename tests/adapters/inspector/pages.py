"""Reports to make pages of, and what a real HTML parser finds in a page."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace
from typing import Any

import html5lib

from accp_adapters.inspector.report import html_report
from accp_adapters.replay import (
    AS_RECORDED,
    RecordedCall,
    RecordedMessage,
    Replay,
    Report,
    Role,
    Run,
    StrategyName,
    replay,
)
from tests.adapters.replay.runs import answers, asks, run_of, says, user

ROWS = [
    {"flight": f"HAT{n:03}", "to": "SEA", "price": n * 7, "seats": {"economy": n, "business": n % 4}} for n in range(80)
]
LINES = "\n".join(f"flight {n} to Seattle leaves at gate {n * 7} with {n * 13} seats" for n in range(120))


def usual_run(name: str = "usual") -> Run:
    """Return a run with a table, lines that are repeated, and a value that is needed."""
    run = run_of(
        RecordedMessage(sender="harness", recipient="clerk", role=Role.INSTRUCTIONS, text="You book flights."),
        user("To Seattle"),
        asks({"to": "SEA"}, 0, call_id="c1"),
        answers(json.dumps(ROWS), 0, call_id="c1"),
        asks({"gates": True}, 1, tool="gates", call_id="c2"),
        answers(LINES, 1, tool="gates", call_id="c2"),
        asks({"gates": "again"}, 2, tool="gates", call_id="c3"),
        answers(f"Checked twice.\n{LINES}", 2, tool="gates", call_id="c3"),
        says("HAT042 looks good.", 3, sender="pilot", to="clerk"),
        says("Take HAT043.", 4),
        tools='[{"name":"search"}]',
    )
    return Run(name=name, source="runs.jsonl", messages=run.messages, calls=run.calls)


def run_full_of(text: str, *, repeated: int = 1) -> Run:
    """Return a run that has `text` in every field."""
    said = {"sender": text, "recipient": text, "text": text * repeated, "tool": text, "call_id": text}
    roles = (Role.INSTRUCTIONS, Role.USER, Role.TOOL, Role.AGENT)
    messages = [RecordedMessage(role=role, **(said | {"sender": f"{text}{role}"})) for role in roles]
    messages.append(RecordedMessage(role=Role.AGENT, by_model=True, turn=1, **said))
    call = RecordedCall(agent=text, prompt=tuple(range(len(roles))), output=(len(roles),), tools=text)
    return Run(name=text, source=text, messages=tuple(messages), calls=(call, call))


@functools.cache
def replays() -> tuple[Replay, Replay]:
    """Return the replays of the usual run."""
    return replay(usual_run(), AS_RECORDED), replay(usual_run(), StrategyName.DEFAULT, texts=True)


def report_full_of(text: str) -> Report:
    """Return the report of two runs, the figures always the same, with `text` in place of every text."""
    sides = (_full_of(side, text) for side in replays())
    return Report.of([tuple(sides)] * 2)


def _full_of(side: Replay, text: str) -> Replay:
    sizes = {"recorded": text, "recorded_chars": len(text), "sent": text, "sent_chars": len(text)}
    texts = (
        replace(
            each,
            run=text,
            sender=text,
            named=tuple(replace(named, start=0, end=len(text), text=text) for named in each.named),
            **sizes,
        )
        for each in side.texts
    )
    return replace(
        side,
        run=text,
        source=text,
        strategy=text,
        calls=tuple(replace(call, agent=text) for call in side.calls),
        messages=tuple(replace(each, sender=text, tool=text, preview=text) for each in side.messages),
        texts=tuple(texts),
    )


def report_of(*runs: Run, name: StrategyName = StrategyName.DEFAULT, texts: bool = True) -> Report:
    """Return the report of `runs` under one policy."""
    return Report.of((replay(run, AS_RECORDED), replay(run, name, texts=texts)) for run in runs)


def page_of(*runs: Run, **options: Any) -> str:
    """Return the page of `runs` under the default policy."""
    return html_report([report_of(*runs)], **options)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a page."""

    name: str
    attributes: dict[str, str]
    text: str


def elements_of(page: str) -> list[Element]:
    """Return the elements of a page in order; a page that is no valid HTML is refused."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), strict=True, namespaceHTMLElements=False)
    return [
        Element(str(node.tag).rpartition("}")[2], dict(node.attrib), "".join(node.itertext()))
        for node in parser.parse(page).iter()
        if isinstance(node.tag, str)
    ]
