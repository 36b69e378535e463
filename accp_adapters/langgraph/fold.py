"""The epoch fold: when the hot budget is passed, older tool results become one summary with a reference.

"Accumulated hot state exceeds" its limit: then a checkpoint is due (ACCP section 5.2). It breaks the provider's
prompt cache, so it is rare: at most every fifth turn, and only where it frees more than it costs. The messages in the
state stay as they are; what a model is sent is computed for each call from them and from one private key, so that a
fork before a fold has none and a fork after it has the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.marks import MARK, carry
from accp_adapters.langgraph.messages import ColdItem
from accp_adapters.langgraph.summary import folded_text, rows_of, summarize
from accp_adapters.langgraph.turns import Turn, compact_json, in_words, thinks, tokens_of, turns_of
from accp_core.cold import cold_key
from accp_core.ports import Summarizer, TokenCounter

__all__ = ["Fold", "Folder"]

EPOCH: Final = 5
"""Turns from one fold to the next, at least: two folds in ten calls at most."""
LEAST: Final = 400
"""Tokens that a fold must free: twice what its own text may take."""
LIVE_SHARE: Final = 4
"""The newest turns stay as they are if they take a fourth of the budget at most; the newest always stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What is folded, as it is kept in the state."""

    cut_id: str
    """The id of the first message after what is folded."""
    upto: int
    """How many messages there were; what was thought before is bound to a text that is no longer sent."""
    turns: int
    """How many turns there were."""
    results: int
    """How many results are folded, those of earlier folds included."""
    text: str
    """The summary."""
    mark: Mapping[str, list[Any]]
    """The keys of the whole texts, the newest last, with the session of each, as on a message that cites them."""

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Fold | None:
        """Return the fold that a state keeps."""
        return cls(**kept) if kept else None

    def kept(self) -> dict[str, Any]:
        """Return what a state keeps, of types that every serializer takes."""
        return asdict(self)

    def carrying(self, items: Iterable[ColdItem]) -> Fold:
        """Return this fold with the texts in it, where there is no store to keep them."""
        texts = [*self.mark.get("texts", ()), *carry((item.key, item.text) for item in items).get("texts", ())]
        return replace(self, mark={**self.mark, "texts": texts})

    @property
    def pair(self) -> tuple[AIMessage, ToolMessage]:
        """The summary as the model reads it: as the answer to a fetch, for it is tools that said it."""
        key = self.mark["refs"][-1]
        call_id = f"fold_{key.removeprefix('cold.')}"
        called = tool_call(name=FETCH_NAME, args={"ref": f"${key}"}, id=call_id)
        return (
            AIMessage("", tool_calls=[called], id=f"{call_id}_call"),
            ToolMessage(
                self.text, name=FETCH_NAME, tool_call_id=call_id, id=call_id, additional_kwargs={MARK: self.mark}
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Decides when to fold, and folds."""

    budget: int
    """Tokens of system prompt, tools and messages beyond which a fold is due."""
    counter: TokenCounter
    exclude_tools: frozenset[str]
    """Tools whose results stay as they are."""
    summarizer: Summarizer | None

    def __post_init__(self) -> None:
        """Refuse a budget in which no summary has room (ValueError)."""
        if self.budget < LEAST:
            raise ValueError(f"expected hot_budget to be at least {LEAST}, found {self.budget!r}")

    def overhead(self, system: BaseMessage | None, tools: Sequence[Any]) -> int:
        """Return the tokens of what every prompt begins with."""
        schemas = [compact_json(tool if isinstance(tool, dict) else convert_to_openai_tool(tool)) for tool in tools]
        return sum(map(self.counter, schemas)) + (tokens_of(system, self.counter) if system else 0)

    def view(self, messages: Sequence[BaseMessage], fold: Fold | None) -> list[Any]:
        """Return what a model is sent of `messages`; all of them where the fold's place is gone."""
        cut = _place(messages, fold)
        if fold is None or cut is None:
            return list(messages)
        gone = {position for turn in self._foldable(messages[:cut]) for position in range(turn.start, turn.end)}
        kept = [
            in_words(message)
            if position < fold.upto and isinstance(message, AIMessage) and thinks(message)
            else message
            for position, message in enumerate(messages)
        ]
        before = [message for position, message in enumerate(kept[:cut]) if position not in gone]
        return [*before, *fold.pair, *kept[cut:]]

    def fold(
        self,
        messages: Sequence[BaseMessage],
        before: Fold | None,
        *,
        overhead: int,
        session_id: str,
        read: Callable[[Sequence[Any]], Sequence[BaseMessage]] = list,
    ) -> tuple[Fold, ColdItem] | None:
        """Return the fold that is due, and the text to store before a model is sent it; None: none is due.

        Args:
            messages: All messages of the state.
            before: The fold in force.
            overhead: Tokens of the system prompt and the tools.
            session_id: Whose store the text belongs to.
            read: What the model reads of a view, which is what counts.
        """
        if _place(messages, before) is None:
            before = None
        turns = list(turns_of(messages))
        if before and len(turns) - before.turns < EPOCH:
            return None
        tokens = self._count(read(self.view(messages, before)))
        if overhead + tokens <= self.budget:
            return None
        cut = self._cut(messages, turns)
        start = _place(messages, before) or 0
        new = [turn for turn in self._foldable(messages[:cut]) if turn.start >= start]
        if not new or messages[cut].id is None:
            return None
        fold, item = self._take(messages, new, before, cut=cut, session_id=session_id)
        freed = tokens - self._count(read(self.view(messages, fold)))
        return (fold, item) if freed >= LEAST else None

    def _take(
        self,
        messages: Sequence[BaseMessage],
        new: Sequence[Turn],
        before: Fold | None,
        *,
        cut: int,
        session_id: str,
    ) -> tuple[Fold, ColdItem]:
        earlier = [{"earlier": before.text, "ref": f"${before.mark['refs'][-1]}"}] if before else []
        rows = [*earlier, *rows_of(new)]
        source = compact_json(rows)
        key = cold_key(session_id, source)
        results = sum(len(turn.results) for turn in new) + (before.results if before else 0)
        held = before.mark if before else {}
        older = f"; the first {before.results} by '0.ref'" if before else ""
        words = summarize(rows, counter=self.counter, summarizer=self.summarizer)
        fold = Fold(
            cut_id=str(messages[cut].id),
            upto=len(messages),
            turns=len(list(turns_of(messages))),
            results=results,
            text=folded_text(results, words, older),
            mark={**held, "refs": [*held.get("refs", ()), key], "sessions": [*held.get("sessions", ()), session_id]},
        )
        return fold, ColdItem(key=key, text=source)

    def _cut(self, messages: Sequence[BaseMessage], turns: Sequence[Turn]) -> int:
        """Return where what stays begins: never within a turn, never behind what no model has read yet."""
        last = next((n for n in reversed(range(len(messages))) if isinstance(messages[n], AIMessage)), 0)
        cut = last if getattr(messages[last], "tool_calls", None) else len(messages) - 1
        room = self.budget // LIVE_SHARE - self._count(messages[cut:])
        for turn in reversed(turns):
            if turn.end <= cut:
                room -= self._count(messages[turn.start : cut])
                if room < 0:
                    break
                cut = turn.start
        return cut

    def _foldable(self, messages: Sequence[BaseMessage]) -> list[Turn]:
        return [turn for turn in turns_of(messages) if self._may_go(turn)]

    def _may_go(self, turn: Turn) -> bool:
        """Tell whether all of `turn` is text, and no result of it is to stay as it is."""
        named = {call["name"] for call in turn.said.tool_calls}
        return named.isdisjoint(self.exclude_tools) and all(map(_is_text, turn.results))

    def _count(self, messages: Sequence[BaseMessage]) -> int:
        return sum(tokens_of(message, self.counter) for message in messages)


def _is_text(result: ToolMessage) -> bool:
    blocks = [result.content] if isinstance(result.content, str) else result.content
    return all(isinstance(block, str) or block.get("type") == "text" for block in blocks)


def _place(messages: Sequence[BaseMessage], fold: Fold | None) -> int | None:
    """Return where the first message after the folded ones stands; None: it is gone, or nothing is folded."""
    if fold is None:
        return None
    return next((position for position, message in enumerate(messages) if message.id == fold.cut_id), None)
