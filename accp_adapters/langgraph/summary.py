"""The summary of finished turns, at most 100 tokens, by rule or by a model (ACCP sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.tool import ToolCall

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.fetching.sources import open_source
from accp_adapters.langgraph.turns import ToolTurn, turns_of
from accp_adapters.tokens import count_o200k
from accp_core.accp import state
from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import Summarizer, TokenCounter

__all__ = ["SummaryRow", "folded_text", "rows_of", "summarize", "summarize_messages"]

SummaryRow = dict[str, Any]
"""One result with its call: "tool", "args", "result"; or what the model ("said") or the "user" wrote."""

SUMMARY_TOKENS: Final = 100
"""Tokens of a summary."""
_MAX_COLUMNS: Final = 8
"""Names of columns that the summary of a table holds."""


def rows_of(turns: Iterable[ToolTurn]) -> Iterator[SummaryRow]:
    """Yield the texts and results of `turns`, each result as its tool returned it, parsed where it is JSON."""
    for turn in turns:
        if turn.request.text.strip():
            yield {"said": turn.request.text}
        calls = {call["id"]: call for call in turn.request.tool_calls}
        for result in turn.results:
            call = calls[result.tool_call_id]
            status = {"status": "error"} if result.status == "error" else {}
            yield {"tool": call["name"], "args": _shown_args(call), **status, "result": open_source(result.text)}


def _shown_args(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call; the reference of an earlier fetch may no longer open."""
    is_fetch = call["name"] == FETCH_NAME
    return {name: value for name, value in call["args"].items() if not is_fetch or name != "ref"}


def summarize(
    rows: Sequence[SummaryRow],
    *,
    counter: TokenCounter = count_o200k,
    limit: int = SUMMARY_TOKENS,
    summarizer: Summarizer | None = None,
) -> str:
    """Return a summary of `rows`, each named by its number, the newest in most detail.

    The same rows give the same text.

    Args:
        rows: What `rows_of` gives.
        counter: Counts the tokens of the model.
        limit: Tokens of the summary.
        summarizer: Writes the summary; None, or where it fails or writes too much: it is made by rule.
    """
    hot = {str(number): _entry(number, row) for number, row in enumerate(rows)}
    limits = state.StateLimits(summary=limit, warm_entry=2 * limit)
    context = state.ContextState(session_id="", limits=limits, hot=hot)
    _, checkpoint = state.take_checkpoint(context, state.CheckpointTrigger.HOT_LIMIT, 0, counter, summarizer)
    return checkpoint.summary


def folded_text(results: int, summary: str) -> str:
    """Return the text that replaces `results` folded results."""
    first = f"{MarkerStart.FOLD}{results}; each intact by its number, as in query='1.result']"
    return f"{first}\n{escape_markers(summary)}"


def summarize_messages(
    messages: Sequence[BaseMessage],
    *,
    counter: TokenCounter = count_o200k,
    limit: int = 2 * SUMMARY_TOKENS,
    summarizer: Summarizer | None = None,
) -> str:
    """Return a summary of `messages` without a model call, for LangChain's `SummarizationMiddleware`.

    `SummarizationMiddleware(model, trigger=…, summarizer=summarize_messages, trim_tokens_to_summarize=None)`: no
    trimming is needed, because no model reads the messages. That middleware removes what it summarizes from the state,
    so that nothing leads back to it; the fold of `AccpMiddleware(fold_trigger=…)` keeps all of it one fetch away.

    Args:
        messages: The messages that are to be removed.
        counter: Counts the tokens of the model.
        limit: Tokens of the summary.
        summarizer: As in `summarize`.
    """
    turns = {turn.start: turn for turn in turns_of(messages)}
    rows: list[SummaryRow] = []
    for position, message in enumerate(messages):
        if turn := turns.get(position):
            rows += rows_of([turn])
        elif isinstance(message, HumanMessage | AIMessage) and message.text.strip():
            rows.append({"user" if isinstance(message, HumanMessage) else "said": message.text})
    return summarize(rows, counter=counter, limit=limit, summarizer=summarizer) or "nothing was said"


def _entry(number: int, row: SummaryRow) -> state.Entry:
    tool = row.get("tool")
    if tool is None:
        kind, words = next(iter(row.items()))
        return state.Entry(value={"text": words}, tokens=0, entity=f"{number} {kind}")
    # A summary by rule shows the last facts first: the arguments of the call, then its result.
    return state.Entry(value={**_gist(row["result"]), **row["args"]}, tokens=0, entity=f"{number} {tool}")


def _gist(result: Any) -> dict[str, Any]:
    """Return the facts of a result without its rows: their number and column names, or how a text begins."""
    match result:
        case [{**first}, *_]:
            return {"of": " ".join(map(str, islice(first, _MAX_COLUMNS))), "rows": len(result)}
        case list():
            return {"items": len(result)}
        case Mapping():
            return {
                key: value if not isinstance(value, list) else f"{len(value)} items" for key, value in result.items()
            }
        case _:
            return {"text": str(result)}
