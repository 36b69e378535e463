"""The state of a session: the hot, warm and cold tiers, and the context shared with peers (ACCP section 5).

A `ContextState` is a value: every change returns a new one. It does no I/O: what belongs into the cold store is handed
out as `StoredText`, and what must be read from it as `ColdKey`.
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
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.values import apply, diff
from accp_core.references import StoredText, check_grant

__all__ = [
    "ColdKey", "ContextState", "Entry", "StateLimits", "Tier", "foreign_ref",
]  # fmt: skip


class Tier(StrEnum):
    """The tier of a value (section 5.1), which is the first part of a reference such as `$warm.key`."""

    HOT = "hot"
    """In the context: the current frame and the frames that led to it."""
    WARM = "warm"
    """Summaries of finished phases."""
    COLD = "cold"
    """Full texts in an external store; no context holds them unless they are asked for."""
    CONTEXT = "ctx"
    """The map that the peers of a session share and change by deltas, such as `$ctx.sales_db`, the draft's example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLimits:
    """The budgets of section 5.1, in tokens, and the number of entries that a session keeps."""

    hot: int = 500
    """"Max budget: 500 tokens": an entry beyond it is refused."""
    checkpoint: int = 400
    """"Accumulated hot state exceeds 400 tokens": a checkpoint is due then."""
    warm_entry: int = 200
    """"Max budget: 200 tokens per checkpoint"."""
    summary: int = 100
    """"Generate compressed summary (less than or equal to 100 tokens)"."""
    warm_entries: int = 64
    """Checkpoints in the warm tier; the summary of an older one expires, its raw data stays in the cold tier."""
    lifetimes: int = 1_024
    """Cold keys whose lifetime is remembered; the store itself drops the other texts."""
    context_keys: int = 10_000
    """Keys of the shared context."""
    context_chars: int = 4_000_000
    """Approximate characters of the shared context: a peer may send a megabyte under each key."""
    ref_chars: int = 256
    """Characters of a reference; a longer one is not looked up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One value of the hot or warm tier."""

    value: Value
    """The value of a reference to it."""
    tokens: int
    """The tokens of its text."""
    text: str = ""
    """Its source, such as a frame; the raw data that a checkpoint moves to the cold store."""
    entity: str = ""
    """The entity of facts that are extracted from it, such as "analyst.lookup"; empty: its key."""
    expires_at: int | None = None
    """The last second of the Unix epoch at which it may be read; None: it does not expire."""


@dataclass(frozen=True, slots=True)
class ColdKey:
    """One text of the cold store; as a grant, it permits another session to read the text."""

    session_id: str
    """The session that stored it."""
    key: str
    """Its key in the store, such as "cold.05736180442795560163228944101"."""


def foreign_ref(key: ColdKey) -> Ref:
    """Return the reference of another session to that text: `$cold.<session>.<key>`, with the session's id escaped."""
    return Ref(f"cold.{grammar.escape_key(key.session_id)}.{key.key.removeprefix('cold.')}")


T = TypeVar("T")


class _Missing(Enum):
    MISSING = "missing"


_MISSING: Final = _Missing.MISSING
# Ids count from 1, so whether an unknown one was in use is known without remembering it.
_CHECKPOINT_ID: Final = re.compile(r"ckpt_([1-9][0-9]{0,17})(?:\..*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """The state of one session at one of its ends."""

    session_id: str
    """The session; a reference resolves within it only."""
    limits: StateLimits = StateLimits()
    """The budgets."""
    hot: Mapping[str, Entry] = field(default_factory=dict)
    """Key to entry, oldest first."""
    warm: Mapping[str, Entry] = field(default_factory=dict)
    """Checkpoint id to entry, oldest first."""
    lifetimes: Mapping[str, int] = field(default_factory=dict)
    """Cold key to the last second of the Unix epoch at which its text may be read, for texts that expire."""
    context: Mapping[str, Value] = field(default_factory=dict)
    """The context shared with peers."""
    context_chars: int = 0
    """Its approximate characters."""
    version: int = 0
    """The version of the shared context; each delta raises it by one."""
    checkpoints: int = 0
    """The number of checkpoints taken, so that no id is used twice."""

    @property
    def hot_tokens(self) -> int:
        """The tokens of the hot tier."""
        return sum(entry.tokens for entry in self.hot.values())

    @property
    def warm_tokens(self) -> int:
        """The tokens of the warm tier."""
        return sum(entry.tokens for entry in self.warm.values())

    def put_hot(self, key: str, entry: Entry) -> ContextState:
        """Return the state with `entry` in the hot tier.

        Raises:
            ProtocolError: E2003, the tier would exceed its budget.
        """
        hot = {**self.hot, key: entry}
        if sum(each.tokens for each in hot.values()) > self.limits.hot:
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, f"expected at most {self.limits.hot} hot tokens, found more")
        return replace(self, hot=hot)

    def put_warm(self, key: str, entry: Entry) -> ContextState:
        """Return the state with `entry` in the warm tier, where the oldest entries make room for it.

        Raises:
            ProtocolError: E2003, the entry exceeds its budget.
        """
        if entry.tokens > self.limits.warm_entry:
            reason = f"expected at most {self.limits.warm_entry} tokens in a warm entry, found {entry.tokens}"
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, reason)
        return replace(self, warm=_newest({**self.warm, key: entry}, self.limits.warm_entries))

    def put_cold(self, stored: StoredText) -> ContextState:
        """Return the state that remembers how long a stored text may be read."""
        if stored.expires_at is None:
            return self
        kept = _newest({**self.lifetimes, stored.key: stored.expires_at}, self.limits.lifetimes)
        return replace(self, lifetimes=kept)

    # "Tier 2: ... Referenced via $warm.key. ... Tier 3: ... Referenced via $cold.key."
    # "Cold state references MUST be scoped to the current session. Cross-session state access requires explicit
    # authorization." (section 9, item 3)
    def resolve(self, ref: Ref, now: int, grants: Collection[ColdKey] = ()) -> Value | ColdKey:
        """Return the value of `ref`, or the cold key of the text that holds it.

        A dot after a key leads into its map. A reference without a tier is looked up in hot, warm and cold.

        Args:
            ref: The reference.
            now: The current time, in seconds of the Unix epoch.
            grants: The texts of other sessions that may be read.

        Raises:
            ProtocolError: E2001, there is no such value; E2002, it is past its lifetime; E5002, it is a text of
                another session that is not granted.
        """
        if len(ref.key) <= self.limits.ref_chars:
            tier, _, key = ref.key.partition(".")
            if tier == Tier.COLD and key:
                return self._resolve_cold(key, now, grants)
            value = self._search(tier, key, now) if key and tier in _READABLE else self._search_all(ref.key, now)
            if value is not _MISSING:
                return value
        name = ref.key[: self.limits.ref_chars]
        raise _refusal(ErrorCode.REF_NOT_FOUND, f"expected the name of a value in the state, found ${name}")

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
        """Refuse a checkpoint that is not in the warm tier any more."""
        match = _CHECKPOINT_ID.fullmatch(key) if tier == Tier.WARM else None
        if match and int(match[1]) <= self.checkpoints:
            raise _refusal(ErrorCode.REF_EXPIRED, f"expected one of the last checkpoints, found $warm.{key}")

    def _search_all(self, key: str, now: int) -> Value | ColdKey | _Missing:
        for tier in (Tier.HOT, Tier.WARM):
            if (value := self._search(tier, key, now)) is not _MISSING:
                return value
        return self._resolve_cold(key, now, ()) if f"cold.{key}" in self.lifetimes else _MISSING

    def _resolve_cold(self, key: str, now: int, grants: Collection[ColdKey]) -> ColdKey:
        owner, dot, name = key.partition(".")
        session_id = _unescape_session(owner) if dot else self.session_id
        target = ColdKey(session_id, f"cold.{name if dot else key}")
        if session_id == self.session_id:
            _check_lifetime(f"$cold.{key}", self.lifetimes.get(target.key), now)
        else:
            check_grant(foreign_ref(target).key, {foreign_ref(grant).key for grant in grants})
        return target

    # "The decoder reconstructs full state by applying deltas to the last checkpoint." (section 5.4)
    def apply_delta(self, version: object, delta: object) -> ContextState | None:
        """Return the state after a delta, None where `version` is not the one after ours.

        None means that a delta is missing or came twice, so that the whole context must be requested.

        Args:
            version: The version that the delta leads to.
            delta: Key to new value; REMOVED for a key to remove.

        Raises:
            ProtocolError: E1004, the version is not a whole number or the delta not a map; E2003, the context would
                exceed its limits.
        """
        number = _check_version(version)
        if not isinstance(delta, Mapping):
            raise _refusal(ErrorCode.INVALID_TYPE, f"expected a map as the delta, found {type(delta).__name__}")
        if number != self.version + 1:
            return None
        changed = apply(self.context, delta)
        before = sum(_chars(key, self.context[key]) for key in delta if key in self.context)
        after = sum(_chars(key, changed[key]) for key in delta if key in changed)
        return self._with_context(number, changed, self.context_chars - before + after)

    def with_context(self, version: object, context: object) -> ContextState:
        """Return the state with another version of the whole shared context, as a resync brings it.

        Raises:
            ProtocolError: as `apply_delta`.
        """
        number = _check_version(version)
        if not isinstance(context, Mapping):
            raise _refusal(ErrorCode.INVALID_TYPE, f"expected a map as the context, found {type(context).__name__}")
        return self._with_context(number, context, sum(_chars(key, value) for key, value in context.items()))

    def _with_context(self, version: int, context: Mapping[str, Value], chars: int) -> ContextState:
        if len(context) > self.limits.context_keys:
            reason = f"expected at most {self.limits.context_keys} keys in the context, found {len(context)}"
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, reason)
        if chars > self.limits.context_chars:
            reason = f"expected at most {self.limits.context_chars} characters in the context, found {chars}"
            raise _refusal(ErrorCode.BUDGET_EXCEEDED, reason)
        return replace(self, version=version, context=dict(context), context_chars=chars)

    def delta_to(self, context: Mapping[str, Value]) -> tuple[int, Mapping[str, Value]]:
        """Return the next version, and the delta that leads from the current context to `context`."""
        return self.version + 1, diff(self.context, context)


def _chars(key: str, value: Value) -> int:
    return len(key) + len(repr(value))


_READABLE: Final = frozenset({Tier.HOT, Tier.WARM, Tier.CONTEXT})


def _refusal(code: ErrorCode, reason: str) -> ProtocolError:
    return ProtocolError(reason, code=code)


def _newest(entries: Mapping[str, T], limit: int) -> dict[str, T]:
    """Return the last `limit` entries."""
    return dict(islice(entries.items(), max(0, len(entries) - limit), None))


def _unescape_session(word: str) -> str:
    try:
        return grammar.unescape_key(word)
    except ValueError:
        raise _refusal(ErrorCode.REF_NOT_FOUND, "expected the escaped id of a session in the reference") from None


def _check_version(version: object) -> int:
    if type(version) is not int or version < 0:
        raise _refusal(ErrorCode.INVALID_TYPE, "expected a whole number from 0 as the version of a context")
    return version


def _check_lifetime(name: str, expires_at: int | None, now: int) -> None:
    # The last second still counts, as with the ttl of a frame.
    if expires_at is not None and now > expires_at:
        raise _refusal(ErrorCode.REF_EXPIRED, f"{name} is past its lifetime")


def _split(values: Mapping[str, object], key: str) -> tuple[str | None, list[str]]:
    """Return the longest name in `values` with which `key` starts, and the keys after it; None where there is none."""
    parts = key.split(".")
    for end in range(len(parts), 0, -1):
        if (name := ".".join(parts[:end])) in values:
            return name, parts[end:]
    return None, []


def _descend(value: Value, path: list[str]) -> Value | _Missing:
    """Return the value at the end of `path` within `value`; a key of a map may have dots in it."""
    while path:
        if not isinstance(value, Mapping):
            return _MISSING
        name, path = _split(value, ".".join(path))
        if name is None:
            return _MISSING
        value = value[name]
    return value
