"""The fold: beyond a size that the user sets, older tool results are replaced by one summary with a reference.

"Accumulated hot state exceeds" its limit: then a checkpoint is due (ACCP section 5.2). A fold breaks the provider's
prompt cache, so it is rare: at most every fifth turn, and only where it frees more than it costs. The messages in the
state stay as they are. What a model is sent is computed for each call from them and from one private state key, so that
a fork before a fold has none and a fork after it has the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langchain.messages import program_calls
from accp_adapters.langgraph.summary import folded_text, rows_of, summarize
from accp_adapters.langgraph.turns import ToolTurn, as_json, count_tokens, has_thoughts, turns_of, without_thoughts
from accp_adapters.policy import ContextSize, Policy, Size, read_size
from accp_core.ports import Summarizer, TokenCounter
from accp_core.projection import ToolForms
from accp_core.projection.results import count_once
from accp_core.references import key_of, short_reference

__all__ = ["FOLD_KEY", "Fold", "Folder", "folded_source", "folder_of"]

FOLD_KEY: Final = "accp_fold"
"""The private state key that holds the fold in force."""


MIN_TURNS_BETWEEN: Final = 5
"""Turns from one fold to the next: at most two folds in ten calls."""
MIN_FREED_TOKENS: Final = 400
"""Tokens that a fold must free: twice what its own text may take."""
_TEXTS: Final = ("cut_id", "text", "key", "digest")
_COUNTS: Final = ("upto", "turns", "results")
"""The fields of a fold by their types."""
LIVE_SHARE: Final = 4
"""Where `keep` is not given, the newest turns stay as they are while they take at most a fourth of `trigger`."""


_Project: TypeAlias = Callable[[Sequence[Any]], Sequence[BaseMessage]]


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
    exclude_tools: list[str]
    """Tools whose results were not folded."""
    key: str
    """The key of the text of all folded results, which `folded_source` makes again of the messages."""
    digest: str
    """The key of the folded messages' texts: a summary of messages that were changed since is no longer sent."""

    @classmethod
    def of(cls, data: Any) -> Fold | None:
        """Return the fold that a state keeps, None where it keeps none or one of another shape."""
        if not isinstance(data, Mapping) or set(data) != {each.name for each in fields(cls)}:
            return None
        tools = data["exclude_tools"]
        names = tools if isinstance(tools, list) else [None]
        texts = all(isinstance(each, str) for each in (*(data[name] for name in _TEXTS), *names))
        return cls(**data) if texts and all(type(data[name]) is int for name in _COUNTS) else None

    def to_json(self) -> dict[str, Any]:
        """Return what a state keeps, of types that every serializer takes."""
        return asdict(self)

    @property
    def messages(self) -> tuple[AIMessage, ToolMessage]:
        """The summary as the model reads it: the answer to a fetch, because its text comes from tools."""
        call_id = f"fold_{self.key.removeprefix('cold.')}"
        call = tool_call(name=FETCH_NAME, args={"ref": short_reference(self.key)}, id=call_id)
        result = ToolMessage(self.text, name=FETCH_NAME, tool_call_id=call_id, id=call_id)
        return AIMessage("", tool_calls=[call], id=f"{call_id}_call"), result


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Decides when a fold is due, and makes it."""

    trigger: Size
    """Tokens of system prompt, tools and messages, or messages as they are sent, beyond which a fold is due."""
    keep: Size | None = None
    """What the newest turns may take that stay as they are; the last one always stays. None: a fourth of `trigger`."""
    counter: TokenCounter
    """Counts the tokens of the model."""
    tools: ToolForms = field(default_factory=ToolForms)
    """What is special to some tools: results that stay as they are do not fold."""
    summarizer: Summarizer | None = None
    """Writes the summaries; None: they are made by rule."""

    def __post_init__(self) -> None:
        """Refuse a trigger that has no room for a summary or for what is kept (ValueError)."""
        trigger, keep = self.trigger, self._keep
        if trigger.unit == "tokens" and trigger.amount < MIN_FREED_TOKENS:
            raise ValueError(f"expected fold_trigger to be at least {MIN_FREED_TOKENS} tokens, found {trigger.amount}")
        if keep.unit == trigger.unit and keep.amount >= trigger.amount:
            found = f"{keep.amount} and {trigger.amount} {keep.unit}"
            raise ValueError(f"expected fold_keep to be smaller than fold_trigger, found {found}")

    def overhead(self, system: BaseMessage | None, tools: Sequence[Any]) -> int:
        """Return the tokens of the system prompt and the tool definitions."""
        schemas = [as_json(tool if isinstance(tool, dict) else convert_to_openai_tool(tool)) for tool in tools]
        return sum(map(self.counter, schemas)) + (count_tokens(system, self.counter) if system else 0)

    def apply(self, messages: Sequence[BaseMessage], fold: Fold | None) -> list[Any]:
        """Return `messages` with the summary in place of the folded ones; all of them where any of these changed."""
        cut = _cut_index(messages, fold)
        turns = foldable_turns(messages[:cut], self._is_left)
        if fold is None or cut is None or _digest(turns) != fold.digest:
            return list(messages)
        folded = {position for turn in turns for position in range(turn.start, turn.end)}
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
        project: _Project = list,
    ) -> Fold | None:
        """Return the fold that is due, None where none is.

        Args:
            messages: All messages of the state.
            before: The fold in force.
            overhead: Tokens of the system prompt and the tools.
            project: Returns what the model is sent of messages, which is what counts.
        """
        if _cut_index(messages, before) is None:
            before = None
        turns = list(turns_of(messages))
        if before and len(turns) - before.turns < MIN_TURNS_BETWEEN:
            return None
        sent = project(self.apply(messages, before))
        tokens = self._count(sent)
        size = len(sent) if self.trigger.unit == "messages" else overhead + tokens
        if size <= self.trigger.amount:
            return None
        cut = self._cut(messages, turns, project)
        start = _cut_index(messages, before) or 0
        new = [turn for turn in foldable_turns(messages[:cut], self._is_left) if turn.start >= start]
        if not new or messages[cut].id is None:
            return None
        fold = self._make(messages, cut)
        freed = tokens - self._count(project(self.apply(messages, fold)))
        return fold if freed >= MIN_FREED_TOKENS else None

    def _make(self, messages: Sequence[BaseMessage], cut: int) -> Fold:
        """Return the fold of all turns before `cut`."""
        turns = foldable_turns(messages[:cut], self._is_left)
        rows = list(rows_of(turns))
        results = sum(len(turn.results) for turn in turns)
        return Fold(
            cut_id=str(messages[cut].id),
            upto=len(messages),
            turns=len(list(turns_of(messages))),
            results=results,
            text=folded_text(results, summarize(rows, counter=self.counter, summarizer=self.summarizer)),
            exclude_tools=sorted(self._left_in(messages[:cut])),
            key=key_of(as_json(rows)),
            digest=_digest(turns),
        )

    def _cut(self, messages: Sequence[BaseMessage], turns: Sequence[ToolTurn], project: _Project) -> int:
        """Return the index of the first message that stays: never within a turn, nor after a result not sent yet.

        What stays is counted as it is sent when nothing is before it, so that a repeat marker counts as its lines.
        """
        last = next((n for n in reversed(range(len(messages))) if isinstance(messages[n], AIMessage)), 0)
        cut = last if getattr(messages[last], "tool_calls", None) else len(messages) - 1
        for turn in reversed(turns):
            if turn.end <= cut:
                if self._measure(self._keep, project(messages[turn.start :])) > self._keep.amount:
                    break
                cut = turn.start
        return cut

    def _is_left(self, tool: str) -> bool:
        """Return whether the results of `tool` stay as they are."""
        return self.tools.find(tool) == "as_is"

    def _left_in(self, messages: Sequence[BaseMessage]) -> set[str]:
        """Return the names of the tools called in `messages` whose results stay as they are."""
        names = {call["name"] for turn in turns_of(messages) for call in turn.request.tool_calls}
        return set(filter(self._is_left, names))

    @property
    def _keep(self) -> Size:
        return self.keep or Size(self.trigger.unit, self.trigger.amount // LIVE_SHARE)

    def _measure(self, size: Size, messages: Sequence[BaseMessage]) -> int:
        return len(messages) if size.unit == "messages" else self._count(messages)

    def _count(self, messages: Sequence[BaseMessage]) -> int:
        return sum(count_tokens(message, count_once(self.counter)) for message in messages)


def folded_source(messages: Sequence[BaseMessage], fold: Fold) -> str | None:
    """Return the text of all folded results, from the messages that hold them; None: they were removed or changed."""
    cut = _cut_index(messages, fold)
    turns = foldable_turns(messages[:cut], fold.exclude_tools.__contains__)
    text = "" if cut is None else as_json(list(rows_of(turns)))
    return text if key_of(text) == fold.key else None


def foldable_turns(messages: Sequence[BaseMessage], is_left: Callable[[str], bool]) -> list[ToolTurn]:
    """Return the turns of `messages` that are all text, without those of tools that `is_left` names and of programs."""
    return [
        turn
        for turn in turns_of(messages)
        if all(map(_is_text, turn.results))
        and not program_calls(turn.request)
        and not any(is_left(call["name"]) for call in turn.request.tool_calls)
    ]


def _digest(turns: Iterable[ToolTurn]) -> str:
    return key_of("\0".join(result.text for turn in turns for result in turn.results))


def _is_text(result: ToolMessage) -> bool:
    blocks = [result.content] if isinstance(result.content, str) else result.content
    return all(isinstance(block, str) or block.get("type") == "text" for block in blocks)


def _cut_index(messages: Sequence[BaseMessage], fold: Fold | None) -> int | None:
    """Return the index of the first message after the folded ones; None: it was removed, or nothing is folded."""
    if fold is None:
        return None
    return next((position for position, message in enumerate(messages) if message.id == fold.cut_id), None)


def folder_of(
    policy: Policy, trigger: ContextSize | None, keep: ContextSize | None, summarizer: Summarizer | None
) -> Folder | None:
    """Return what folds older results, None where nothing does."""
    if trigger is None:
        unused = [name for name, value in (("fold_keep", keep), ("summarizer", summarizer)) if value is not None]
        if unused:
            raise ValueError(f"expected fold_trigger with {unused[0]}, found None")
        return None
    return Folder(
        trigger=read_size("fold_trigger", trigger, window=policy.window),
        keep=None if keep is None else read_size("fold_keep", keep, window=policy.window),
        counter=policy.counter,
        tools=ToolForms(policy.tools),
        summarizer=summarizer,
    )
