"""What stays of a finished phase, and where the rest goes (ACCP sections 5.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from json import dumps
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.accp.frame import Ref, Value
from accp_core.accp.state.context_state import ContextState, Entry
from accp_core.accp.vocabulary import Intent
from accp_core.ports import Summarizer, TokenCounter
from accp_core.references import StoredText

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
"""The conditions that a frame meets by its intent."""


def due_trigger(state: ContextState, intent: Intent | None = None) -> CheckpointTrigger | None:
    """Return why a checkpoint MUST be taken now, after a frame of that intent; None when it need not."""
    if intent is not None and intent in INTENT_TRIGGERS:
        return INTENT_TRIGGERS[intent]
    return CheckpointTrigger.HOT_LIMIT if state.hot_tokens > state.limits.checkpoint else None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that holds: "(entity, value, relationship triples)"."""

    entity: str
    """What it is about, such as "analyst.lookup": who said it, and of which operation."""
    relation: str
    """The key; keys within each other are joined by dots."""
    value: str
    """The value in words, a long one cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What one checkpoint came to."""

    id: str
    """Its key in the warm tier, such as "ckpt_1"."""
    trigger: CheckpointTrigger
    """Why it was taken."""
    summary: str
    """At most 100 tokens."""
    by_rule: bool
    """Whether the summary is the deterministic one, and not the summarizer's."""
    facts: tuple[Fact, ...]
    """All that were extracted; the warm entry holds those that fit."""
    stored: tuple[StoredText, ...]
    """What must be in the cold store before anything cites it: the raw data."""
    tokens: int
    """What its warm entry takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A checkpoint being taken."""

    state: ContextState
    trigger: CheckpointTrigger
    counter: TokenCounter
    summarizer: Summarizer | None
    expires_at: int | None
    id: str
    frozen: Mapping[str, Entry]
    raw: StoredText
    facts: tuple[Fact, ...] = ()
    summary: str = ""
    by_rule: bool = True
    told: frozenset[Fact] = frozenset()
    """The facts that the summary says."""
    tokens: int = 0


_Step: TypeAlias = Callable[[_Work], _Work]

_VALUE_CHARS: Final = 50
_NAME_CHARS: Final = 40
_FACTS: Final = 64
_LEVELS: Final = 5
_HOT_KEY: Final = "checkpoint"
# What people look for first in a finished phase is how it ended.
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
    """Return the state after a checkpoint, and what it came to; the same state gives the same.

    The raw data expires `lifetime` seconds after `now`, with None not at all.
    """
    work = _Work(
        state=state,
        trigger=trigger,
        counter=counter,
        summarizer=summarizer,
        expires_at=None if lifetime is None else now + lifetime,
        id=f"ckpt_{state.checkpoints + 1}",
        frozen=state.hot,
        raw=StoredText.of(""),
    )
    for step in STEPS:
        work = step(work)
    return work.state, Checkpoint(
        id=work.id,
        trigger=trigger,
        summary=work.summary,
        by_rule=work.by_rule,
        facts=work.facts,
        stored=(work.raw,),
        tokens=work.tokens,
    )


# "1. Freeze current hot state"
def freeze_hot(work: _Work) -> _Work:
    """Take the entries as they are; their texts are the raw data, named by what they say."""
    raw = _json({key: entry.text or _words(entry.value) for key, entry in work.state.hot.items()})
    return replace(work, frozen=work.state.hot, raw=StoredText.of(raw, expires_at=work.expires_at))


# "2. Extract key facts (entity, value, relationship triples)"
def extract_facts(work: _Work) -> _Work:
    """Take what the values say, by rule: one fact for each scalar, the last one where two are about the same."""
    found: dict[tuple[str, str], Fact] = {}
    for key, entry in work.frozen.items():
        for fact in _facts(entry.entity or key, entry.value):
            found.pop((fact.entity, fact.relation), None)
            found[fact.entity, fact.relation] = fact
    return replace(work, facts=tuple(found.values())[-_FACTS:])


# "3. Generate compressed summary (less than or equal to 100 tokens)"
def generate_summary(work: _Work) -> _Work:
    """Let the summarizer write it; without one, and where it fails or says too much, say the facts that fit."""
    limit = work.state.limits.summary
    said = _ask(work.summarizer, work.raw.text, limit)
    if said and work.counter(said) <= limit:
        return replace(work, summary=said, by_rule=False)
    newest_first = list(reversed(work.facts))
    ordered = sorted(newest_first, key=lambda fact: fact.value not in _OUTCOMES)
    told = _fit(ordered, limit, work.counter, _say, _said)
    return replace(work, summary=_say(told), told=frozenset(told))


# "4. Move summary to warm state with checkpoint ID"
def move_summary_to_warm(work: _Work) -> _Work:
    """Put the summary, as many facts beside it as fit and the name of the raw data under `$warm.<id>`."""

    def write(facts: Sequence[Fact]) -> str:
        return _json(_warm_value(work, facts))

    untold = [fact for fact in reversed(work.facts) if fact not in work.told]
    facts = _fit(untold, work.state.limits.warm_entry, work.counter, write, _triple)
    text = write(facts)
    entry = Entry(value=_warm_value(work, facts), tokens=work.counter(text), text=text)
    return replace(work, state=work.state.put_warm(work.id, entry), tokens=entry.tokens)


# "5. Move raw data to cold state"
def move_raw_to_cold(work: _Work) -> _Work:
    """Let the state know how long the raw data lives; the write itself is the caller's, who has the store."""
    return replace(work, state=work.state.put_cold(work.raw))


# "6. Reset hot state with checkpoint reference"
def reset_hot(work: _Work) -> _Work:
    """Leave nothing hot but the reference."""
    value = Ref(f"warm.{work.id}")
    entry = Entry(value=value, tokens=work.counter(f"${value.key}"), text=f"${value.key}")
    hot = {_HOT_KEY: entry}
    return replace(work, state=replace(work.state, hot=hot, checkpoints=work.state.checkpoints + 1))


STEPS: Final[tuple[_Step, ...]] = (
    freeze_hot,
    extract_facts,
    generate_summary,
    move_summary_to_warm,
    move_raw_to_cold,
    reset_hot,
)
"""The six steps of section 5.3, in its order."""


def _facts(entity: str, value: Value, relation: str = "", level: int = 0) -> Iterator[Fact]:
    if isinstance(value, Mapping) and level < _LEVELS:
        for key, member in value.items():
            yield from _facts(entity, member, f"{relation}.{key}" if relation else str.__str__(key), level + 1)
    elif isinstance(value, list | tuple) and level < _LEVELS and any(isinstance(item, Mapping) for item in value):
        for item in value:
            yield from _facts(entity, item, relation, level + 1)
    elif not isinstance(value, Ref) or entity != _HOT_KEY:
        yield Fact(_cut(entity, _NAME_CHARS), _cut(relation or "is", _NAME_CHARS), _cut(_words(value), _VALUE_CHARS))


def _words(value: Value) -> str:
    """Return a value in few words: a string as it is, anything else as JSON, a reference with its `$`."""
    if isinstance(value, str):
        return value
    return f"${value.key}" if isinstance(value, Ref) else _json(value)


def _json(value: object) -> str:
    """Return compact JSON; what JSON cannot say stands there in words."""
    return dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return f"${value.key}" if isinstance(value, Ref) else str(value)


def _cut(text: str, chars: int) -> str:
    """Return `text` on one line and no longer than that."""
    line = " ".join(text[: 2 * chars].split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def _ask(summarizer: Summarizer | None, raw: str, limit: int) -> str:
    if summarizer is None:
        return ""
    try:
        return summarizer(raw, limit)
    except Exception:  # it may be a model on a network: whatever happens to it, the checkpoint MUST be taken
        return ""


def _say(facts: Sequence[Fact]) -> str:
    """Return facts as a text: `analyst.lookup: intent=done, revenue=-12%; …`."""
    said: dict[str, list[str]] = {}
    for fact in facts:
        said.setdefault(fact.entity, []).append(f"{fact.relation}={fact.value}")
    return "; ".join(f"{entity}: {', '.join(relations)}" for entity, relations in said.items())


def _said(fact: Fact, kept: Sequence[Fact]) -> str:
    """Return what `_say` adds for `fact`: its entity only once."""
    entity = "" if any(fact.entity == other.entity for other in kept) else f"; {fact.entity}:"
    return f"{entity} {fact.relation}={fact.value},"


def _warm_value(work: _Work, facts: Sequence[Fact]) -> dict[str, Value]:
    triples = [[fact.entity, fact.relation, fact.value] for fact in facts]
    return {"summary": work.summary, "facts": triples, "raw": f"${work.raw.key}"}


def _triple(fact: Fact, kept: Sequence[Fact]) -> str:
    """Return what the JSON of a warm entry adds for `fact`."""
    return _json([fact.entity, fact.relation, fact.value]) + "," * bool(kept)


def _fit(
    facts: Sequence[Fact],
    limit: int,
    counter: TokenCounter,
    write: Callable[[Sequence[Fact]], str],
    added: Callable[[Fact, Sequence[Fact]], str],
) -> list[Fact]:
    """Return those of `facts`, in their order, whose text stays within `limit` tokens."""
    if counter(write(facts)) <= limit:
        return list(facts)
    kept: list[Fact] = []
    room = limit - counter(write(()))
    for fact in facts:
        if (cost := counter(added(fact, kept))) <= room:
            kept.append(fact)
            room -= cost
    # Tokens of parts do not add up to those of the whole: what counts is the whole.
    while kept and counter(write(kept)) > limit:
        kept.pop()
    return kept
