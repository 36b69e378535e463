"""Checkpoints: the summary of a finished phase, and its raw data for the cold store (ACCP sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from math import isfinite
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.accp.frame import Intent, Ref, Value
from accp_core.accp.state.context_state import ContextState, Entry, StateLimits
from accp_core.errors import EncodeError
from accp_core.ports import Summarizer, TokenCounter
from accp_core.references import StoredText
from accp_core.strict_json import compact_json

__all__ = ["INTENT_TRIGGERS", "STEPS", "Checkpoint", "CheckpointTrigger", "Fact", "due_trigger", "take_checkpoint"]


class CheckpointTrigger(StrEnum):
    """Why a checkpoint is taken: the five conditions of section 5.2, in its order."""

    TASK_DONE = "done"
    """"An agent completes a task ("done" intent)"."""
    HOT_LIMIT = "hot"
    """"Accumulated hot state exceeds 400 tokens"."""
    HANDOFF = "esc"
    """"A handoff between agents occurs ("esc" intent)"."""
    PHASE = "phase"
    """"The harness signals a phase boundary"."""
    REQUESTED = "comp"
    """"An agent explicitly requests compression ("comp" intent)"."""


INTENT_TRIGGERS: Final[Mapping[Intent, CheckpointTrigger]] = MappingProxyType(
    {
        Intent.COMPLETE: CheckpointTrigger.TASK_DONE,
        Intent.ESCALATE: CheckpointTrigger.HANDOFF,
        Intent.COMPRESS: CheckpointTrigger.REQUESTED,
    }
)
"""The intents after which a checkpoint is due."""


def due_trigger(
    hot_tokens: int,
    limits: StateLimits,
    intent: Intent | None = None,
    triggers: Collection[CheckpointTrigger] = frozenset(CheckpointTrigger),
) -> CheckpointTrigger | None:
    """Return why a checkpoint is due now, after a frame of that intent; None where none of `triggers` is met.

    Args:
        hot_tokens: The tokens of the hot tier.
        limits: The budgets.
        intent: The intent of the last frame.
        triggers: When a checkpoint is taken, besides a hot tier that is too big.
    """
    trigger = None if intent is None else INTENT_TRIGGERS.get(intent)
    if trigger in triggers:
        return trigger
    return CheckpointTrigger.HOT_LIMIT if hot_tokens > limits.checkpoint else None


@dataclass(frozen=True, slots=True)
class Fact:
    """A key fact: "(entity, value, relationship triples)"."""

    entity: str
    """The subject, such as "analyst.lookup": the sender and the operation of a frame."""
    relation: str
    """The key; the keys of nested maps are joined by dots."""
    value: str
    """The value as text, cut where it is long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The result of one checkpoint."""

    id: str
    """Its key in the warm tier, such as "ckpt_1"."""
    trigger: CheckpointTrigger
    """Why it was taken."""
    summary: str
    """The summary, by default of at most 100 tokens."""
    by_rule: bool
    """Whether the summary was made by rule, and not by the summarizer."""
    facts: tuple[Fact, ...]
    """All extracted facts; the warm entry holds those that fit."""
    stored: tuple[StoredText, ...]
    """The raw data, which must be in the cold store before anything refers to it."""
    tokens: int
    """The tokens of its warm entry."""


@dataclass(slots=True, kw_only=True)
class _Work:
    """The intermediate results of one checkpoint."""

    state: ContextState
    trigger: CheckpointTrigger
    counter: TokenCounter
    summarizer: Summarizer | None
    expires_at: int | None
    id: str
    frozen: Mapping[str, Entry] = field(default_factory=dict)
    raw: StoredText = field(default_factory=partial(StoredText.of, ""))
    facts: tuple[Fact, ...] = ()
    values: dict[Fact, Value] = field(default_factory=dict)
    """The value of each fact, in its type where it is whole."""
    summary: str = ""
    by_rule: bool = True
    tokens: int = 0

    def to_checkpoint(self) -> Checkpoint:
        """Return the result, after the last step."""
        return Checkpoint(
            id=self.id,
            trigger=self.trigger,
            summary=self.summary,
            by_rule=self.by_rule,
            facts=self.facts,
            stored=(self.raw,),
            tokens=self.tokens,
        )


_Step: TypeAlias = Callable[[_Work], None]

_MAX_VALUE_CHARS: Final = 50
_MAX_NAME_CHARS: Final = 40
_MAX_FACTS: Final = 64
_MAX_LEVELS: Final = 5
_HOT_KEY: Final = "checkpoint"
_SCALARS: Final = (str, int, float)
# The outcome of a finished phase is what its readers look for first.
_OUTCOMES: Final = frozenset({Intent.COMPLETE.value, Intent.FAILURE.value, Intent.ESCALATE.value})


def take_checkpoint(
    state: ContextState,
    trigger: CheckpointTrigger,
    now: int,
    counter: TokenCounter,
    summarizer: Summarizer | None = None,
    *,
    lifetime: int | None = None,
) -> tuple[ContextState, Checkpoint]:
    """Return the state after a checkpoint, and the checkpoint; the same state gives the same result.

    Args:
        state: The state before.
        trigger: Why the checkpoint is taken.
        now: The current time, in seconds of the Unix epoch.
        counter: Counts tokens.
        summarizer: Writes the summary; None: it is made by rule.
        lifetime: Seconds for which the raw data may be read; None: as long as the store keeps it.

    Raises:
        ProtocolError: E2003, the limits have no room for the warm entry.
    """
    work = _Work(
        state=state,
        trigger=trigger,
        counter=counter,
        summarizer=summarizer,
        expires_at=None if lifetime is None else now + lifetime,
        id=f"ckpt_{state.checkpoints + 1}",
    )
    for step in STEPS:
        step(work)
    return work.state, work.to_checkpoint()


# "1. Freeze current hot state"
def freeze_hot(work: _Work) -> None:
    """Take the entries as they are; their texts are the raw data."""
    raw = _to_json({key: entry.text or _to_text(entry.value) for key, entry in work.state.hot.items()})
    work.frozen, work.raw = work.state.hot, StoredText.of(raw, expires_at=work.expires_at)


# "2. Extract key facts (entity, value, relationship triples)"
def extract_facts(work: _Work) -> None:
    """Extract one fact for each scalar of the values; the last one counts where two have the same relation."""
    facts: dict[tuple[str, str], Fact] = {}
    for (entity, relation), value in _newest_first(work.frozen):
        name = _shorten(entity, _MAX_NAME_CHARS), _shorten(relation or "is", _MAX_NAME_CHARS)
        if name not in facts:
            text = _to_text(value)
            facts[name] = fact = Fact(*name, _shorten(text, _MAX_VALUE_CHARS))
            work.values[fact] = value if text == fact.value and not isinstance(value, Ref) else fact.value
        if len(facts) == _MAX_FACTS:
            break
    work.facts = tuple(reversed(facts.values()))


def _newest_first(entries: Mapping[str, Entry]) -> Iterator[tuple[tuple[str, str], Value]]:
    """Yield entity, relation and last value of each scalar, but for the reference to the last checkpoint."""
    seen: set[tuple[str, str]] = set()
    for key, entry in reversed(list(entries.items())):
        entity, found = entry.entity or key, list[tuple[str, Value]]()
        _add_facts(found, entry.value, "", 0)
        for relation, value in reversed(found):
            name = entity, relation
            if name not in seen and not (entity == _HOT_KEY and isinstance(value, Ref)):
                seen.add(name)
                yield name, value


# "3. Generate compressed summary (less than or equal to 100 tokens)"
def generate_summary(work: _Work) -> None:
    """Ask the summarizer; without one, and where it fails or its answer is too long, list the facts that fit."""
    limit = work.state.limits.summary
    answer = _summarize(work.summarizer, work.raw.text, limit)
    if answer and work.counter(answer) <= limit:
        work.summary, work.by_rule = answer, False
        return
    newest_first = list(reversed(work.facts))
    ordered = sorted(newest_first, key=lambda fact: fact.value not in _OUTCOMES)
    _, work.summary, _ = _fit(ordered, limit, work.counter, _facts_to_text, _added_text)


# "4. Move summary to warm state with checkpoint ID"
def move_summary_to_warm(work: _Work) -> None:
    """Put the summary, the reference to the raw data and the newest facts that fit under `$warm.<id>`.

    A fact has its relation as key, such as `$warm.ckpt_1.status`; an older one of another entity has the entity before.
    """

    def write(facts: Sequence[Fact]) -> str:
        return _to_json(_warm_value(work, facts))

    newest = tuple(reversed(work.facts))
    facts, text, work.tokens = _fit(newest, work.state.limits.warm_entry, work.counter, write, _added_json)
    entry = Entry(value=_warm_value(work, facts), tokens=work.tokens, text=text)
    work.state = work.state.put_warm(work.id, entry)


# "5. Move raw data to cold state"
def move_raw_to_cold(work: _Work) -> None:
    """Remember the lifetime of the raw data; the caller stores it."""
    work.state = work.state.put_cold(work.raw)


# "6. Reset hot state with checkpoint reference"
def reset_hot(work: _Work) -> None:
    """Leave only the reference to the checkpoint in hot state."""
    value = Ref(f"warm.{work.id}")
    entry = Entry(value=value, tokens=work.counter(f"${value.key}"), text=f"${value.key}")
    work.state = replace(work.state, hot={_HOT_KEY: entry}, checkpoints=work.state.checkpoints + 1)


STEPS: Final[tuple[_Step, ...]] = (
    freeze_hot,
    extract_facts,
    generate_summary,
    move_summary_to_warm,
    move_raw_to_cold,
    reset_hot,
)
"""The six steps of section 5.3, in order."""


def _add_facts(found: list[tuple[str, Value]], value: Value, relation: str, level: int) -> None:
    """Add relation and value of each scalar; an array without maps and what is nested too deep is one scalar."""
    if isinstance(value, _SCALARS) or level >= _MAX_LEVELS:
        found.append((relation, value))
    elif isinstance(value, (dict, Mapping)):
        for key, member in value.items():
            _add_facts(found, member, f"{relation}.{key}" if relation else str.__str__(key), level + 1)
    elif isinstance(value, (list, tuple)) and any(isinstance(item, (dict, Mapping)) for item in value):
        for item in value:
            _add_facts(found, item, relation, level + 1)
    else:
        found.append((relation, value))


def _to_text(value: Value) -> str:
    """Return a string as it is, a reference with its `$`, and any other value as JSON."""
    if isinstance(value, str):
        return value
    return f"${value.key}" if isinstance(value, Ref) else _to_json(value)


def _to_json(value: object) -> str:
    """Return compact JSON, with text in place of what JSON cannot hold."""
    try:
        return compact_json(value)
    except EncodeError:
        return _to_exact_json(value)


def _to_exact_json(value: object) -> str:
    try:
        return compact_json(value, default=_to_json_value)
    except EncodeError:  # NaN, or two halves of a surrogate pair side by side
        return compact_json(_replace_unwritable(value))


def _to_json_value(value: object) -> object:
    """Return the JSON value of a value that the JSON writer does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    return f"${value.key}" if isinstance(value, Ref) else str(value)


def _replace_unwritable(value: object) -> object:
    """Return `value` with text in place of non-finite numbers, and "?" in place of halves of surrogate pairs."""
    if isinstance(value, Mapping):
        return {_replace_unwritable(str.__str__(key)): _replace_unwritable(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_unwritable(item) for item in value]
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(_to_json_value(value)).encode("utf-8", "replace").decode()


def _shorten(text: str, chars: int) -> str:
    """Return `text` on one line, cut to `chars` characters."""
    if len(text) <= chars and text.isascii() and text.isprintable() and " " not in text:
        return text
    line = " ".join(text[: 2 * chars].split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def _summarize(summarizer: Summarizer | None, raw: str, limit: int) -> str:
    """Return the answer of the summarizer, "" without one and where it fails."""
    if summarizer is None:
        return ""
    try:
        return summarizer(raw, limit)
    except Exception:  # it may be a model on a network: whatever happens to it, the checkpoint MUST be taken
        return ""


def _facts_to_text(facts: Sequence[Fact]) -> str:
    """Return facts as text: `analyst.lookup: intent=done, revenue=-12%; …`."""
    relations: dict[str, list[str]] = {}
    for fact in facts:
        relations.setdefault(fact.entity, []).append(f"{fact.relation}={fact.value}")
    return "; ".join(f"{entity}: {', '.join(pairs)}" for entity, pairs in relations.items())


def _added_text(fact: Fact, kept: Sequence[Fact]) -> str:
    """Return what `fact` adds to the text of the facts before it: its entity only once."""
    entity = "" if any(fact.entity == other.entity for other in kept) else f"; {fact.entity}:"
    return f"{entity} {fact.relation}={fact.value},"


def _warm_value(work: _Work, facts: Sequence[Fact]) -> dict[str, Value]:
    entry: dict[str, Value] = {"summary": work.summary, "raw": work.raw.reference}
    for fact in facts:
        key = f"{fact.entity}.{fact.relation}" if fact.relation in entry else fact.relation
        entry[key] = work.values[fact]
    return entry


def _added_json(fact: Fact, kept: Sequence[Fact]) -> str:
    """Return what `fact` adds to the JSON of a warm entry."""
    name = f"{fact.entity}.{fact.relation}" if any(fact.relation == other.relation for other in kept) else fact.relation
    return _to_json({name: fact.value}) + ","


def _fit(
    facts: Sequence[Fact],
    limit: int,
    counter: TokenCounter,
    write: Callable[[Sequence[Fact]], str],
    added: Callable[[Fact, Sequence[Fact]], str],
) -> tuple[list[Fact], str, int]:
    """Return those of `facts`, in order, whose text has at most `limit` tokens, with this text and its tokens.

    Args:
        facts: The facts, the most important ones first.
        limit: Tokens of the text.
        counter: Counts tokens.
        write: Returns the text of some facts.
        added: Returns about what one fact adds to the text of the facts before it.
    """
    text = write(facts)
    if (tokens := counter(text)) <= limit:
        return list(facts), text, tokens
    kept: list[Fact] = []
    room = limit - counter(write(()))
    for fact in facts:
        if (cost := counter(added(fact, kept))) <= room:
            kept.append(fact)
            room -= cost
    # The tokens of the parts do not add up to those of the whole, which must be within the limit.
    while (tokens := counter(text := write(kept))) > limit and kept:
        kept.pop()
    return kept, text, tokens
