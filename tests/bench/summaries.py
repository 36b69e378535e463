"""What a summary of a conversation costs: with `AccpMiddleware.summarizer`, its request ends the prompt sent last.

Each recorded session goes on in an agent: its messages, an answer, and a further message, before which LangChain's
`SummarizationMiddleware` summarizes all but the last two. Tools and instructions are not counted: ours keeps both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import BaseMessage, convert_to_messages, convert_to_openai_messages
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.replay.cache_pricing import Charge, PromptCache
from accp_adapters.replay.seen_messages import SeenMessages
from accp_adapters.tokens import encode_o200k
from accp_core.strict_json import compact_json
from tests.bench.data import committed_runs
from tests.scripted_model import ScriptedModel

__all__ = ["main"]

_MIN_MESSAGES: Final = 8
_KEPT: Final = ("messages", 2)
_SCRIPT: Final = ("Done.", "The user's wish was fulfilled.", "Done.")
"""The answer to the recorded prompt, the summary, and the answer after it."""


def main(_: Path | None, console: Console) -> None:
    """Print what the summarizing call of each corpus takes, with LangChain's summarizer and with ours."""
    charges: dict[str, list[tuple[Charge, Charge]]] = defaultdict(list)
    for run in committed_runs():
        messages = convert_to_messages([seen.message for seen in SeenMessages(run).of(run.calls[-1])])
        if len(messages) >= _MIN_MESSAGES:
            charges[PurePath(run.source).name.partition(".")[0]].append(
                (_charge(messages, None), _charge(messages, AccpMiddleware()))
            )
    lines = [(name, f"{len(pairs)}", *_sums(pairs)) for name, pairs in sorted(charges.items())]
    every = [pair for pairs in charges.values() for pair in pairs]
    columns = ("sessions of", "", "LangChain's: tokens", "cached %", "cost", "ours: tokens", "cached %", "cost")
    title = "3d. the call that summarizes a session"
    console.print(plain_table(title, columns, [*lines, ("all", f"{len(every)}", *_sums(every))]))


def _charge(messages: Sequence[BaseMessage], accp: AccpMiddleware | None) -> Charge:
    """Return what the summarizing call costs behind the prompt before it."""
    model = ScriptedModel(script=list(_SCRIPT), strict=False)
    ours: dict[str, Any] = {"summarizer": accp.summarizer(model)} if accp else {}
    summarize = SummarizationMiddleware(
        model, trigger=("messages", len(messages) + 2), keep=_KEPT, trim_tokens_to_summarize=None, **ours
    )
    graph: Any = create_agent(model, middleware=[summarize, *([accp] if accp else [])], checkpointer=InMemorySaver())
    for given in (list(messages), "Go on."):
        graph.invoke({"messages": given}, {"configurable": {"thread_id": "t"}})
    cache = PromptCache()
    before, summary, _ = (cache.charge("", [_ids(message) for message in prompt]) for prompt in model.received)
    assert before.tokens
    return summary


def _ids(message: BaseMessage) -> Sequence[int]:
    return encode_o200k(compact_json(convert_to_openai_messages(message)))


def _sums(pairs: Sequence[tuple[Charge, Charge]]) -> tuple[str, ...]:
    cells: list[str] = []
    for charges in zip(*pairs, strict=True):
        tokens, cached = sum(each.tokens for each in charges), sum(each.cached for each in charges)
        cells += [f"{tokens:,}", percent(cached, tokens), f"{sum(each.cost for each in charges):,.0f}"]
    return tuple(cells)
