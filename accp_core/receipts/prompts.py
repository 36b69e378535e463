"""What an agent was shown of a conversation: the prompt as it is projected, without what the agent wrote itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from accp_core.projection import MessageRecord, Projected, Role, attribute
from accp_core.receipts.check import Receipt, check
from accp_core.strict_json import compact_json

__all__ = ["check_prompt"]


def check_prompt(
    answer: str,
    records: Iterable[MessageRecord],
    projected: Sequence[Projected],
    *,
    names: Iterable[str] | None,
    agent: str | None = None,
    instructions: str = "",
) -> tuple[Receipt, ...]:
    """Return the receipts of an answer to a conversation; see `check`.

    Of a result that is sent as a preview only the preview counts, and what was fetched; a view shows all of its text.

    Args:
        answer: The answer, which may be the last message.
        records: The messages.
        projected: What the model is sent of each.
        names: The names of other agents, see `attribute`.
        agent: The name of the agent that answers; None: it has none.
        instructions: Its system prompt, where the messages have none.
    """
    attributed = list(attribute(records, names=names, agent=agent))
    shown, previewed = [instructions], set[str]()
    for record, sent in zip(attributed, projected, strict=True):
        previewed |= {stored.text for stored in sent.stored}
        if record.role is not Role.MODEL:
            shown += (
                (new if new is not None and block in previewed else block) or ""
                for block, new in zip(record.blocks, sent.blocks, strict=True)
            )
    calls = (call for record in attributed for call in record.calls if answer not in call.args.values())
    return check(
        answer,
        filter(None, shown),
        own=(compact_json(dict(call.args)) for call in calls),
        request=next((record.text for record in reversed(attributed) if record.role is Role.USER), ""),
    )
