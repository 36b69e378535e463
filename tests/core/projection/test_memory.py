"""What a process remembers of the conversations that it has projected."""

import gc
import random
import tracemalloc
from dataclasses import replace

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import MessageRecord, Projected, ProjectedConversations, ProjectionRules, Projector, Role

RULES = ProjectionRules(counter=o200k_base(), limits=ResultLimits(), batch_limit=16_000, open_with="accp_fetch")

WHOLE = ResultLimits(inline=None)


class CountingProjector(Projector):
    """A projector that counts the messages that it projects."""

    count = 0

    def project(self, record: MessageRecord) -> Projected:
        CountingProjector.count += 1
        return super().project(record)


def test_a_conversation_above_the_bound_is_projected_once_and_kept_alone() -> None:
    records = [MessageRecord(role=Role.TOOL, blocks=(f"{number} says nothing new. " * 200,)) for number in range(9)]
    conversations = ProjectedConversations(lambda opens: CountingProjector(RULES, opens=opens), max_bytes=10_000)
    CountingProjector.count = 0
    first = conversations.project(records[:8])
    assert conversations.project(records)[:8] == first
    assert CountingProjector.count == 9
    conversations.project(records[1:4])
    conversations.project(records)
    assert CountingProjector.count == 9 + 3 + 9


def test_a_preview_is_not_compared_with_what_was_read_where_repeats_stay() -> None:
    text = "\n".join(f"host-{number} answers in {number * 7 % 90} ms" for number in range(900))
    record = MessageRecord(role=Role.TOOL, blocks=(text,))
    projector = Projector(replace(RULES, repeats=False))
    first, second = projector.project(record), projector.project(record)
    assert first.stored == second.stored != ()
    assert first.blocks == second.blocks


def test_a_conversation_begins_again_where_other_keys_open() -> None:
    records = [MessageRecord(role=Role.USER, blocks=("hi",), name="ann", call_id=None)]
    conversations = ProjectedConversations(lambda opens: CountingProjector(RULES, opens=opens))
    before = CountingProjector.count
    for start in (frozenset[str](), frozenset({"cold.1"}), frozenset[str]()):
        conversations.project(records, start=start)
    assert CountingProjector.count == before + 2


def filled(kind: str, number: int) -> str:
    dice = random.Random(f"{kind} {number}")
    match kind:
        case "words":
            return "\n".join(" ".join(f"{dice.getrandbits(24):x}" for _ in range(12)) for _ in range(120))
        case "letters":
            return " ".join(dice.choice("abcdefgh") for _ in range(4_000))
        case "rows":
            return str([{"id": row, "trace": dice.getrandbits(64)} for row in range(300)])
    return "".join(chr(dice.randrange(0x400, 0x500)) for _ in range(8_000))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "letters", "rows", "cyrillic"])
def test_a_conversation_counts_the_memory_that_it_takes(kind: str) -> None:
    conversations = ProjectedConversations(lambda opens: Projector(replace(RULES, limits=WHOLE), opens=opens))
    texts = [filled(kind, number) for number in range(9)]
    conversations.project([MessageRecord(role=Role.TOOL, blocks=(texts.pop(),))])
    gc.collect()
    tracemalloc.start()
    try:
        before = conversations.size
        conversations.project([MessageRecord(role=Role.TOOL, blocks=(str(text.encode(), "utf-8"),)) for text in texts])
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.6 < (conversations.size - before) / taken < 1.6
