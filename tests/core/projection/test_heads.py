"""The first line of a preview: what the first one of a conversation says, no other one repeats."""

import json

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import CallRecord, MessageRecord, ProjectionRules, Projector, Role

counter = o200k_base()
LINES = "\n".join(f"entry {n} of the register, folio {n * 7919}" for n in range(1200))
ROWS = json.dumps([{"id": n, "state": "open" if n % 3 else "closed", "note": f"note {n * n}"} for n in range(400)])
OTHER = "\n".join(f"{n * n} sheep in the meadow of {n % 13} shepherds" for n in range(900))
CUT = ROWS[: len(ROWS) * 2 // 3]


def heads(*messages: tuple[str, ...], argument_limit: int | None = None) -> list[str]:
    """Return the first line of each block of the results of calls that were made one after the other."""
    rules = ProjectionRules(
        counter=counter,
        open_with="accp_fetch",
        limits=ResultLimits(inline=400, preview=300),
        batch_limit=16_000,
        argument_limit=argument_limit,
    )
    projector = Projector(rules)
    found = []
    for number, blocks in enumerate(messages):
        call = CallRecord(id=f"c{number}", name="read", args={})
        projector.project(MessageRecord(role=Role.MODEL, blocks=("",), calls=(call,)))
        shown = projector.project(MessageRecord(role=Role.TOOL, blocks=blocks, call_id=call.id))
        found += [(new or old).split("\n")[0] for new, old in zip(shown.blocks, blocks, strict=True)]
    return found


@pytest.mark.parametrize("source", [LINES, ROWS, CUT], ids=["lines", "rows", "cut off"])
def test_every_preview_but_the_first_has_a_first_line_of_at_most_15_tokens(source: str) -> None:
    alone, first, later = (*heads((source,)), *heads((OTHER,), (source,)))
    assert "accp_fetch $cold." in alone
    assert "accp_fetch $cold." in first
    assert later.startswith("[preview: ")
    assert counter(later) <= 15
    assert ("cut off" in later) is ("cut off" in alone)
    assert ("lines" in later) is ("lines" in alone.split(";")[0])


def test_of_several_blocks_the_first_preview_says_how_one_is_opened() -> None:
    small, first, second = heads(("small", ROWS, LINES))
    assert small == "small"
    assert "; the whole is intact: accp_fetch $cold." in first
    assert second.startswith("[preview: 1200 lines $cold.")


def test_the_same_messages_have_the_same_first_lines() -> None:
    assert heads((ROWS,), (LINES,)) == heads((ROWS,), (LINES,))
    assert heads((LINES,), (ROWS,))[0] == heads((LINES,))[0]
