"""What finished turns come to: a summary of at most 100 tokens, by rule or by a model (ACCP sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.fetching.sources import open_source
from accp_adapters.langgraph.marks import MARK
from accp_adapters.langgraph.messages import restore_message
from accp_adapters.langgraph.turns import Turn, turns_of
from accp_adapters.tokens import count_o200k
from accp_core.accp.state.checkpoint import CheckpointTrigger, take_checkpoint
from accp_core.accp.state.context_state import ContextState, Entry, StateLimits
from accp_core.ports import Summarizer, TokenCounter

__all__ = ["Row", "folded_text", "rows_of", "summarize", "warm_summary"]

Row = dict[str, Any]
"""One result with what it answers: "tool", "args", "result"; or what the model or the user "said"."""

SUMMARY_TOKENS: Final = StateLimits().summary
_COLUMNS: Final = 8


def rows_of(turns: Iterable[Turn]) -> Iterator[Row]:
    """Yield what was said and found in `turns`, each result as its tool returned it, opened where it is JSON.

    Of one that was too big to show it is the preview: the whole has a reference of its own, which stands in it.
    """
    for turn in turns:
        if turn.said.text.strip():
            yield {"said": turn.said.text}
        calls = {call["id"]: call for call in turn.said.tool_calls}
        for result in turn.results:
            call = calls[result.tool_call_id]
            failed = {"status": "error"} if result.status == "error" else {}
            yield {"tool": call["name"], "args": call["args"], **failed, "result": _source(result)}


def _source(result: ToolMessage) -> Any:
    cited = result.additional_kwargs.get(MARK, {}).get("refs")
    return result.text if cited else open_source(restore_message(result).text)


def summarize(
    rows: Sequence[Row],
    *,
    counter: TokenCounter = count_o200k,
    limit: int = SUMMARY_TOKENS,
    summarizer: Summarizer | None = None,
) -> str:
    """Return what `rows` come to in at most `limit` tokens, each named by its number; the newest say most.

    `summarizer` writes it; without one, and where it fails or says too much, rules do. The same rows come to the
    same text.
    """
    hot = {str(number): _entry(number, row) for number, row in enumerate(rows)}
    state = ContextState(session_id="", limits=StateLimits(summary=limit, warm_entry=2 * limit), hot=hot)
    _, checkpoint = take_checkpoint(state, CheckpointTrigger.HOT_LIMIT, 0, counter, summarizer)
    return checkpoint.summary


def folded_text(results: int, words: str, where: str = "") -> str:
    """Return what stands for `results` results: that they are intact, and `where`, and what they come to."""
    return f"[earlier results folded: {results}; each intact by its number, as in query='1.result'{where}]\n{words}"


def warm_summary(
    messages: Sequence[BaseMessage],
    *,
    counter: TokenCounter = count_o200k,
    limit: int = 2 * SUMMARY_TOKENS,
    summarizer: Summarizer | None = None,
) -> str:
    """Return what `messages` come to, without a model call, for LangChain's `SummarizationMiddleware`.

    `SummarizationMiddleware(model, trigger=…, summarizer=warm_summary, trim_tokens_to_summarize=None)`: what it would
    trim for a model needs no trimming here. It removes what it summarises from the state, so nothing leads back to
    it; the fold of `AccpMiddleware(hot_budget=…)` keeps all of it one fetch away.
    """
    turns = {turn.start: turn for turn in turns_of(messages)}
    rows: list[Row] = []
    for position, message in enumerate(messages):
        if turn := turns.get(position):
            rows += rows_of([turn])
        elif isinstance(message, HumanMessage | AIMessage) and message.text.strip():
            rows.append({"user" if isinstance(message, HumanMessage) else "said": message.text})
    return summarize(rows, counter=counter, limit=limit, summarizer=summarizer) or "nothing was said"


def _entry(number: int, row: Row) -> Entry:
    tool = row.get("tool")
    if tool is None:
        kind, words = next(iter(row.items()))
        return Entry(value={"text": words}, tokens=0, entity=f"{number} {kind}")
    # The facts that stand last are said first: what was asked, then what came of it.
    return Entry(value={**_gist(row["result"]), **row["args"]}, tokens=0, entity=f"{number} {tool}")


def _gist(result: Any) -> dict[str, Any]:
    """Return what is worth knowing of a result without its rows: their number and names, or how it begins."""
    match result:
        case [{**first}, *_]:
            return {"of": " ".join(map(str, islice(first, _COLUMNS))), "rows": len(result)}
        case list():
            return {"items": len(result)}
        case Mapping():
            return {
                key: value if not isinstance(value, list) else f"{len(value)} items" for key, value in result.items()
            }
        case str() if result.startswith("[preview of "):
            return {"text": result.partition("\n")[2]}
        case _:
            return {"text": str(result)}
