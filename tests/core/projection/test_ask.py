"""Results whose call has a query: the answer instead of a preview, computed by whoever has the query language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from accp_core.compression import Compressed, ResultLimits
from accp_core.projection import CallRecord, MessageRecord, ProjectionRules, PromptProjector, Role
from accp_core.references import StoredText

TEXT = "\n".join(f"line {number} of some words" for number in range(300))
OTHER = TEXT.replace("line", "entry")


def counter(text: str) -> int:
    return len(text) // 4 + 1


@dataclass(frozen=True)
class CountingLines:
    """Answers how many lines there are; "none": the text needs no answer; "ordinary": that form."""

    argument: str = "asked"

    def __call__(
        self,
        text: str,
        query: str,
        limits: ResultLimits,
        ordinary: Callable[[], Compressed | None],
        *,
        tool: str,
        is_first: bool,
    ) -> Compressed | None:
        if query == "none" or (query == "one" and text != OTHER):
            return None
        shown = f"{'first ' * is_first}{query}: {text.count(chr(10)) + 1} lines, at most {limits.fetch}"
        if query == "ordinary" and (usual := ordinary()):
            shown = f"refused\n{usual.text}"
        return Compressed(text=shown, layout=None, stored=StoredText.of(text), tokens_before=1_000, tokens_after=9)


RULES = ProjectionRules(
    counter=counter,
    limits=ResultLimits(inline=400, preview=200),
    batch_limit=16_000,
    open_with="accp_fetch",
    always_offered=True,
    ask=CountingLines(),
)


def sent(
    query: Any, *texts: str | None, rules: ProjectionRules = RULES, unasked: tuple[str, ...] = (), **fields: Any
) -> list[tuple[str | None, ...]]:
    """Return what is sent of results of one tool, each called with the query."""
    records = []
    for number, text in enumerate(texts):
        call = CallRecord(id=f"c{number}", name="log", args={"asked": query})
        records.append(MessageRecord(role=Role.MODEL, blocks=(), calls=(call,)))
        blocks = fields.pop("blocks", (text,))
        records.append(MessageRecord(role=Role.TOOL, blocks=blocks, call_id=f"c{number}", **fields))
    prompt = PromptProjector(rules).project(records, unasked=unasked)
    return [shown.blocks for shown in prompt.messages[1::2]]


def previewed(*texts: str) -> list[tuple[str | None, ...]]:
    return sent("", *texts)


def test_the_answer_is_shown_and_the_first_of_a_tool_is_told_so() -> None:
    assert sent(" how many ", TEXT, TEXT) == [
        ("first how many: 300 lines, at most 4000",),
        ("how many: 300 lines, at most 4000",),
    ]


def test_a_query_that_needs_no_answer_and_a_tool_with_its_own_argument_show_the_ordinary_form() -> None:
    assert sent("none", TEXT) == sent(3, TEXT) == sent("x", TEXT, unasked=("log",)) == previewed(TEXT)
    assert sent("x", TEXT, rules=replace(RULES, ask=None)) == previewed(TEXT)


def test_errors_and_texts_that_the_state_does_not_hold_are_not_answered() -> None:
    assert sent("x", TEXT, failed=True) == sent("", TEXT, failed=True)
    assert sent("x", TEXT, is_kept=False) == sent("", TEXT, is_kept=False)


def test_each_block_is_answered_by_itself_beside_what_has_no_text() -> None:
    (shown,) = sent("one", TEXT, blocks=(TEXT, None, OTHER))
    assert shown[0] is not None
    assert shown[0].startswith("[preview")
    assert shown[1:] == (None, "first one: 300 lines, at most 4000")


def test_the_ordinary_form_stands_below_a_refusal_and_no_marker_covers_an_answer() -> None:
    (shown,) = sent("ordinary", TEXT)
    assert shown == (f"refused\n{previewed(TEXT)[0][0]}",)
    assert "[as above" not in str(sent("ordinary", TEXT, TEXT))


def test_a_preview_below_an_answer_still_names_the_tool_that_opens_it() -> None:
    records = [
        MessageRecord(role=Role.MODEL, blocks=(), calls=(CallRecord(id="c1", name="log", args={"asked": "x"}),)),
        MessageRecord(role=Role.TOOL, blocks=(TEXT,), call_id="c1"),
        MessageRecord(role=Role.MODEL, blocks=(), calls=(CallRecord(id="c2", name="log"),)),
        MessageRecord(role=Role.TOOL, blocks=(OTHER,), call_id="c2"),
    ]
    shown = PromptProjector(RULES).project(records).messages[-1].blocks[0]
    assert shown is not None
    assert "accp_fetch $cold." in shown.split("\n", 1)[0]
