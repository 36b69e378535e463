"""What a session knows and where it stands: hot, warm, cold, and the context that peers share (ACCP section 5).

A `ContextState` is a value: every change returns a new one, and nothing is read or written anywhere. What belongs
into the cold store is handed out as `StoredText`, what is wanted from it as `ColdKey`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from itertools import islice
from typing import Final, TypeVar

from accp_core.accp import grammar
from accp_core.accp.frame import Ref, Value
from accp_core.cold import cold_key
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.delta import apply, diff
from accp_core.references import StoredText, check_grant

__all__ = [
    "ColdKey", "ColdWrite", "ContextState", "Entry", "StateLimits", "Tier", "cold_write", "foreign_ref",
]  # fmt: skip


class Tier(StrEnum):
    """Where a value stands (section 5.1); the value is the first part of a reference, such as `$warm.key`."""

    HOT = "hot"
    """In the context: the current frame and those that led to it."""
    WARM = "warm"
    """Summaries of finished phases."""
    COLD = "cold"
    """Full texts in an external store; never put into a context by themselves."""
    CONTEXT = "ctx"
    """The map that the peers of a session share and change by deltas; `$ctx.sales_db` is the draft's own example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLimits:
    """The budgets of section 5.1, in tokens, and how many entries a session keeps."""

    hot: int = 500
    """"Max budget: 500 tokens": an entry beyond it is refused."""
    checkpoint: int = 400
    """"Accumulated hot state exceeds 400 tokens": then a checkpoint is due."""
    warm_entry: int = 200
    """"Max budget: 200 tokens per checkpoint"."""
    summary: int = 100
    """"Generate compressed summary (less than or equal to 100 tokens)"."""
    warm_entries: int = 64
    """Checkpoints kept warm; the summary of an older one expires, its raw text stays cold."""
    lifetimes: int = 1_024
    """Cold keys whose lifetime is remembered; the store forgets the others by itself."""
    context_keys: int = 10_000
    """Keys of the shared context."""
    context_chars: int = 4_000_000
    """Characters of the shared context, about: a peer may send a megabyte under each key."""
    ref_chars: int = 256
    """Length of a reference that is looked up; no longer one exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value of the hot or warm tier."""

    value: Value
    """What a reference to it stands for."""
    tokens: int
    """What its text takes in a context."""
    text: str = ""
    """How it was said, such as a frame; the raw data that a checkpoint moves to the cold store."""
    entity: str = ""
    """What facts about it are about, such as "analyst.lookup"; empty: its key."""
    expires_at: int | None = None
    """The last second of the Unix epoch at which it may be read; None: it does not expire."""


@dataclass(frozen=True, slots=True)
class ColdKey:
    """One text of the cold store; given as a grant, the permission of another session to read it."""

    session_id: str
    """Whose it is."""
    key: str
    """Under which it is stored, such as "cold.05736180442795560163228944101"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdWrite:
    """A text that must be in the cold store before any text that cites it leaves."""

    session_id: str
    """Whose it is."""
    key: str
    """Under which to store it; also its ref-key."""
    text: str
    """JSON."""
    expires_at: int | None = None
    """The last second of the Unix epoch at which it may be read; None: as long as the session's texts live."""


def cold_write(session_id: str, text: str, expires_at: int | None = None) -> ColdWrite:
    """Return the write that puts `text` where `cold_key` says."""
    return ColdWrite(session_id=session_id, key=cold_key(session_id, text), text=text, expires_at=expires_at)


def foreign_ref(key: ColdKey) -> Ref:
    """Return how another session refers to that text: `$cold.<session>.<key>`, with the session's id escaped."""
    return Ref(f"cold.{grammar.escape_key(key.session_id)}.{key.key.removeprefix('cold.')}")


Kept = TypeVar("Kept")


class _Missing(Enum):
    MISSING = "missing"


_MISSING: Final = _Missing.MISSING
# As ids count from 1, that an unknown one was in use is decided without remembering it.
_CHECKPOINT_ID: Final = re.compile(r"ckpt_([1-9][0-9]{0,17})(?:\..*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """The state of one session as one peer knows it."""

    session_id: str
    """Whose state it is; references resolve within it only."""
    limits: StateLimits = StateLimits()
    """The budgets."""
    hot: Mapping[str, Entry] = field(default_factory=dict)
    """Key to entry, oldest first."""
    warm: Mapping[str, Entry] = field(default_factory=dict)
    """Checkpoint id to entry, oldest first."""
    lifetimes: Mapping[str, int] = field(default_factory=dict)
    """Cold keys that expire, to the last second at which they may be read."""
    context: Mapping[str, Value] = field(default_factory=dict)
    """The shared map."""
    context_chars: int = 0
    """About how many characters it takes."""
    version: int = 0
    """Of the shared map; each delta raises it by one."""
    checkpoints: int = 0
    """How many were taken, so that ids are not used twice."""

    @property
    def hot_tokens(self) -> int:
        """What the hot tier takes."""
        return sum(entry.tokens for entry in self.hot.values())

    @property
    def warm_tokens(self) -> int:
        """What the warm tier takes."""
        return sum(entry.tokens for entry in self.warm.values())

    def put_hot(self, key: str, entry: Entry) -> ContextState:
        """Return the state with `entry` in the hot tier.

        Raises: ProtocolError E2003 when the tier would take more than its budget.
        """
        hot = {**self.hot, key: entry}
        if sum(each.tokens for each in hot.values()) > self.limits.hot:
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, f"hot state has at most {self.limits.hot} tokens")
        return replace(self, hot=hot)

    def put_warm(self, key: str, entry: Entry) -> ContextState:
        """Return the state with `entry` in the warm tier, without the oldest ones that are too many.

        Raises: ProtocolError E2003 when the entry takes more than its budget.
        """
        if entry.tokens > self.limits.warm_entry:
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, f"a warm entry has at most {self.limits.warm_entry} tokens")
        return replace(self, warm=_newest({**self.warm, key: entry}, self.limits.warm_entries))

    def put_cold(self, stored: StoredText) -> ContextState:
        """Return the state that knows how long the text may be read."""
        if stored.expires_at is None:
            return self
        kept = _newest({**self.lifetimes, stored.key: stored.expires_at}, self.limits.lifetimes)
        return replace(self, lifetimes=kept)

    # "Tier 2: ... Referenced via $warm.key. ... Tier 3: ... Referenced via $cold.key."
    # "Cold state references MUST be scoped to the current session. Cross-session state access requires explicit
    # authorization." (section 9, item 3)
    def resolve(self, ref: Ref, now: int, grants: Collection[ColdKey] = ()) -> Value | ColdKey:
        """Return the value that `ref` stands for, or the cold key whose text does.

        A dot after a key leads into its map. A reference without a tier is looked for in hot, warm and cold; what
        other sessions have is opened by `grants` only.

        Raises: ProtocolError E2001 for what is not there, E2002 for what is past its lifetime, E5002 for a cold
            text of another session that is not granted.
        """
        if len(ref.key) <= self.limits.ref_chars:
            tier, _, key = ref.key.partition(".")
            if tier == Tier.COLD and key:
                return self._resolve_cold(key, now, grants)
            found = self._search(tier, key, now) if key and tier in _READABLE else self._search_all(ref.key, now)
            if found is not _MISSING:
                return found
        raise _refusal(ErrorCode.REF_NOT_FOUND, f"no state is called ${ref.key[: self.limits.ref_chars]}")

    def _search(self, tier: str, key: str, now: int) -> Value | _Missing:
        if tier == Tier.CONTEXT:
            name, path = _split(self.context, key)
            return _MISSING if name is None else _descend(self.context[name], path)
        entries = self.hot if tier == Tier.HOT else self.warm
        name, path = _split(entries, key)
        if name is None:
            self._check_evicted(tier, key)
            return _MISSING
        _check_lifetime(f"${tier}.{name}", entries[name].expires_at, now)
        return _descend(entries[name].value, path)

    def _check_evicted(self, tier: str, key: str) -> None:
        """Refuse a checkpoint that was taken and is not warm any more."""
        found = _CHECKPOINT_ID.fullmatch(key) if tier == Tier.WARM else None
        if found and int(found[1]) <= self.checkpoints:
            raise _refusal(ErrorCode.REF_EXPIRED, f"$warm.{key} is not kept any more")

    def _search_all(self, key: str, now: int) -> Value | ColdKey | _Missing:
        for tier in (Tier.HOT, Tier.WARM):
            if (found := self._search(tier, key, now)) is not _MISSING:
                return found
        return self._resolve_cold(key, now, ()) if f"cold.{key}" in self.lifetimes else _MISSING

    def _resolve_cold(self, key: str, now: int, grants: Collection[ColdKey]) -> ColdKey:
        owner, dot, name = key.partition(".")
        session_id = _session_named(owner) if dot else self.session_id
        wanted = ColdKey(session_id, f"cold.{name if dot else key}")
        if session_id == self.session_id:
            _check_lifetime(f"$cold.{key}", self.lifetimes.get(wanted.key), now)
        else:
            check_grant(foreign_ref(wanted).key, {foreign_ref(grant).key for grant in grants})
        return wanted

    # "The decoder reconstructs full state by applying deltas to the last checkpoint." (section 5.4)
    def apply_delta(self, version: object, delta: object) -> ContextState | None:
        """Return the state after `delta`, which makes that version; None when another one must come first.

        None asks for a resync: the version is not the one after ours, so a delta is missing or came twice.

        Raises: ProtocolError E1004 for a version that is no whole number and a delta that is no map, E2003 for
            more keys or characters than the context may have.
        """
        number = _check_version(version)
        if not isinstance(delta, Mapping):
            raise _refusal(ErrorCode.INVALID_TYPE, "a delta is a map")
        if number != self.version + 1:
            return None
        changed = apply(self.context, delta)
        before = sum(_chars(key, self.context[key]) for key in delta if key in self.context)
        after = sum(_chars(key, changed[key]) for key in delta if key in changed)
        return self._with_context(number, changed, self.context_chars - before + after)

    def with_context(self, version: object, context: object) -> ContextState:
        """Return the state with that version of the whole shared map, as a resync brings it.

        Raises: as `apply_delta`.
        """
        number = _check_version(version)
        if not isinstance(context, Mapping):
            raise _refusal(ErrorCode.INVALID_TYPE, "a context is a map")
        return self._with_context(number, context, sum(_chars(key, value) for key, value in context.items()))

    def _with_context(self, version: int, context: Mapping[str, Value], chars: int) -> ContextState:
        if len(context) > self.limits.context_keys:
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, f"a context has at most {self.limits.context_keys} keys")
        if chars > self.limits.context_chars:
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, f"a context has at most {self.limits.context_chars} characters")
        return replace(self, version=version, context=dict(context), context_chars=chars)

    def delta_to(self, context: Mapping[str, Value]) -> tuple[int, Mapping[str, Value]]:
        """Return the version and the delta that tell a peer at our version of that context."""
        return self.version + 1, diff(self.context, context)


def _chars(key: str, value: Value) -> int:
    return len(key) + len(repr(value))


_READABLE: Final = frozenset({Tier.HOT, Tier.WARM, Tier.CONTEXT})


def _refusal(code: ErrorCode, reason: str) -> ProtocolError:
    return ProtocolError(reason, code=code)


def _newest(entries: Mapping[str, Kept], limit: int) -> dict[str, Kept]:
    """Return the last `limit` entries."""
    return dict(islice(entries.items(), max(0, len(entries) - limit), None))


def _session_named(word: str) -> str:
    try:
        return grammar.unescape_key(word)
    except ValueError:
        raise _refusal(ErrorCode.REF_NOT_FOUND, "no session has this name") from None


def _check_version(version: object) -> int:
    if type(version) is not int or version < 0:
        raise _refusal(ErrorCode.INVALID_TYPE, "a version is a whole number")
    return version


def _check_lifetime(name: str, expires_at: int | None, now: int) -> None:
    # As with a frame's ttl, the last second still counts.
    if expires_at is not None and now > expires_at:
        raise _refusal(ErrorCode.REF_EXPIRED, f"{name} is past its lifetime")


def _split(values: Mapping[str, object], key: str) -> tuple[str | None, list[str]]:
    """Return the longest name in `values` that `key` is or begins with, and the keys after it; None for none."""
    parts = key.split(".")
    for end in range(len(parts), 0, -1):
        if (name := ".".join(parts[:end])) in values:
            return name, parts[end:]
    return None, []


def _descend(value: Value, path: list[str]) -> Value | _Missing:
    """Return what stands at the end of `path` in `value`."""
    for step in path:
        if not isinstance(value, Mapping) or step not in value:
            return _MISSING
        value = value[step]
    return value
