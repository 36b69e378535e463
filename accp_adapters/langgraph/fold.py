"""The fold: beyond the hot budget, older tool results are replaced by one summary with a reference.

"Accumulated hot state exceeds" its limit: then a checkpoint is due (ACCP section 5.2). A fold breaks the provider's
prompt cache, so it is rare: at most every fifth turn, and only where it frees more than it costs. The messages in the
state stay as they are. What a model is sent is computed for each call from them and from one private state key, so that
a fork before a fold has none and a fork after it has the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph.metadata import Grant, Metadata, pack_carried
from accp_adapters.langgraph.summary import folded_text, rows_of, summarize
from accp_adapters.langgraph.turns import Turn, as_json, count_tokens, has_thoughts, turns_of, without_thoughts
from accp_core.ports import Summarizer, TokenCounter
from accp_core.references import StoredText, reference_to

__all__ = ["Fold", "Folder"]

MIN_TURNS_BETWEEN: Final = 5
"""Turns from one fold to the next: at most two folds in ten calls."""
MIN_FREED_TOKENS: Final = 400
"""Tokens that a fold must free: twice what its own text may take."""
LIVE_SHARE: Final = 4
"""The newest turns stay as they are while they take at most a fourth of the budget; the last one always stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Which messages are folded, and the summary that replaces them, as the state keeps it."""

    cut_id: str
    """The id of the first message after the folded ones."""
    upto: int
    """How many messages there were. Thoughts in them are bound to messages that are no longer sent."""
    turns: int
    """How many turns there were."""
    results: int
    """How many results are folded, those of earlier folds included."""
    text: str
    """The summary."""
    metadata: Mapping[str, Any]
    """`Metadata.to_json` of the message with the summary: it grants the keys of the folded texts, the newest last."""

    @classmethod
    def of(cls, data: Any) -> Fold | None:
        """Return the fold that a state keeps, None where it keeps none or one of another shape."""
        if not isinstance(data, Mapping) or set(data) != {field.name for field in fields(cls)}:
            return None
        fold = cls(**data)
        return fold if fold.grants else None

    def to_json(self) -> dict[str, Any]:
        """Return what a state keeps, of types that every serializer takes."""
        return asdict(self)

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The rights to open the folded texts, the newest last."""
        return Metadata.from_json(self.metadata).grants

    @property
    def reference(self) -> str:
        """The reference to the text of the last fold, which cites the one before it."""
        return reference_to(self._key)

    @property
    def _key(self) -> str:
        return self.grants[-1].key

    def carrying(self, text: StoredText) -> Fold:
        """Return this fold with `text` in its metadata, for a graph that has no store."""
        metadata = Metadata.from_json(self.metadata)
        return replace(self, metadata=replace(metadata, texts=(*metadata.texts, pack_carried(text))).to_json())

    @property
    def messages(self) -> tuple[AIMessage, ToolMessage]:
        """The summary as the model reads it: the answer to a fetch, because its text comes from tools."""
        call_id = f"fold_{self._key.removeprefix('cold.')}"
        call = tool_call(name=FETCH_NAME, args={"ref": self.reference}, id=call_id)
        result = ToolMessage(self.text, name=FETCH_NAME, tool_call_id=call_id, id=call_id)
        return (
            AIMessage("", tool_calls=[call], id=f"{call_id}_call"),
            Metadata.from_json(self.metadata).on(result),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Decides when a fold is due, and makes it."""

    budget: int
    """Tokens of system prompt, tools and messages beyond which a fold is due."""
    counter: TokenCounter
    """Counts the tokens of the model."""
    exclude_tools: frozenset[str]
    """Tools whose results stay as they are."""
    summarizer: Summarizer | None
    """Writes the summaries; None: they are made by rule."""

    def __post_init__(self) -> None:
        """Refuse a budget that has no room for a summary (ValueError)."""
        if self.budget < MIN_FREED_TOKENS:
            raise ValueError(f"expected hot_budget to be at least {MIN_FREED_TOKENS}, found {self.budget!r}")

    def overhead(self, system: BaseMessage | None, tools: Sequence[Any]) -> int:
        """Return the tokens of the system prompt and the tool definitions."""
        schemas = [as_json(tool if isinstance(tool, dict) else convert_to_openai_tool(tool)) for tool in tools]
        return sum(map(self.counter, schemas)) + (count_tokens(system, self.counter) if system else 0)

    def apply(self, messages: Sequence[BaseMessage], fold: Fold | None) -> list[Any]:
        """Return `messages` with the summary in place of the folded ones; all of them where the cut was removed."""
        cut = _cut_index(messages, fold)
        if fold is None or cut is None:
            return list(messages)
        folded = {position for turn in self._foldable(messages[:cut]) for position in range(turn.start, turn.end)}
        kept = [
            without_thoughts(message)
            if position < fold.upto and isinstance(message, AIMessage) and has_thoughts(message)
            else message
            for position, message in enumerate(messages)
        ]
        before = [message for position, message in enumerate(kept[:cut]) if position not in folded]
        return [*before, *fold.messages, *kept[cut:]]

    def fold(
        self,
        messages: Sequence[BaseMessage],
        before: Fold | None,
        *,
        overhead: int,
        session_id: str,
        project: Callable[[Sequence[Any]], Sequence[BaseMessage]] = list,
    ) -> tuple[Fold, StoredText] | None:
        """Return the fold that is due and the text to store before a model is sent it; None: none is due.

        Args:
            messages: All messages of the state.
            before: The fold in force.
            overhead: Tokens of the system prompt and the tools.
            session_id: The session whose store gets the text.
            project: Returns what the model is sent of messages, which is what counts.
        """
        if _cut_index(messages, before) is None:
            before = None
        turns = list(turns_of(messages))
        if before and len(turns) - before.turns < MIN_TURNS_BETWEEN:
            return None
        tokens = self._count(project(self.apply(messages, before)))
        if overhead + tokens <= self.budget:
            return None
        cut = self._cut(messages, turns)
        start = _cut_index(messages, before) or 0
        new = [turn for turn in self._foldable(messages[:cut]) if turn.start >= start]
        if not new or messages[cut].id is None:
            return None
        text = StoredText.of(as_json([*_earlier(before), *rows_of(new)]))
        fold = self._make(messages, new, before, cut=cut, grant=Grant(key=text.key, session_id=session_id))
        freed = tokens - self._count(project(self.apply(messages, fold)))
        return (fold, text) if freed >= MIN_FREED_TOKENS else None

    def _make(
        self, messages: Sequence[BaseMessage], new: Sequence[Turn], before: Fold | None, *, cut: int, grant: Grant
    ) -> Fold:
        """Return the fold of the turns `new` and of all that was folded `before`."""
        results = sum(len(turn.results) for turn in new) + (before.results if before else 0)
        older = f"; the first {before.results} by '0.ref'" if before else ""
        rows = [*_earlier(before), *rows_of(new)]
        summary = summarize(rows, counter=self.counter, summarizer=self.summarizer)
        held = Metadata.from_json(before.metadata) if before else Metadata()
        return Fold(
            cut_id=str(messages[cut].id),
            upto=len(messages),
            turns=len(list(turns_of(messages))),
            results=results,
            text=folded_text(results, summary, older),
            metadata=replace(held, grants=(*held.grants, grant)).to_json(),
        )

    def _cut(self, messages: Sequence[BaseMessage], turns: Sequence[Turn]) -> int:
        """Return the index of the first message that stays: never within a turn, nor after a result not sent yet."""
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
        """Return whether all of `turn` is text, and none of its results comes from an excluded tool."""
        tools = {call["name"] for call in turn.request.tool_calls}
        return tools.isdisjoint(self.exclude_tools) and all(map(_is_text, turn.results))

    def _count(self, messages: Sequence[BaseMessage]) -> int:
        return sum(count_tokens(message, self.counter) for message in messages)


def _is_text(result: ToolMessage) -> bool:
    blocks = [result.content] if isinstance(result.content, str) else result.content
    return all(isinstance(block, str) or block.get("type") == "text" for block in blocks)


def _earlier(before: Fold | None) -> list[dict[str, Any]]:
    """Return the row that leads from the text of a fold to the one before it."""
    return [{"earlier": before.text, "ref": before.reference}] if before else []


def _cut_index(messages: Sequence[BaseMessage], fold: Fold | None) -> int | None:
    """Return the index of the first message after the folded ones; None: it was removed, or nothing is folded."""
    if fold is None:
        return None
    return next((position for position, message in enumerate(messages) if message.id == fold.cut_id), None)
