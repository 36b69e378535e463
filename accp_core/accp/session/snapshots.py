"""A session as data: written in one process, read in another one (ACCP section 3.7; the form is ours).

The fields of dataclasses and their type hints say how a value is written and read; `_STATE` says it for the objects
that a session fills as it goes. One `Shape` is both directions, so that they cannot differ. A value that does not fit
is refused with its place, such as `outbox.sent[3]`; no member may be missing or unknown.

JSON lacks some values of frames. They are objects with one member, whose name begins with `$`:

    {"$ref": "warm.ckpt_1"}    a reference
    {"$removed": true}         a key that a delta removes
    {"$decimal": "142.50"}     a Decimal
    {"$text": "eda0bd"}        the UTF-8 of a text that JSON would change, with halves of surrogate pairs
    {"$map": [["$k", 1]]}      a map with a key that looks like one of these, or that JSON would change
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import cache
from itertools import groupby
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from accp_core.accp.codec import Codec
from accp_core.accp.frame import REMOVED, Message, Ref, Value
from accp_core.accp.grammar import GrammarLimits
from accp_core.accp.parser import frame_head
from accp_core.accp.profiles import BUILT_IN, Transactions
from accp_core.accp.schema import SchemaRegistry, read_hash
from accp_core.accp.session import delivery
from accp_core.accp.session.events import CheckpointTaken, ExchangeClosed, ExchangeOpened, SessionOptions
from accp_core.accp.session.exchanges import (
    Exchange,
    Exchanges,
    ExchangeState,
    FrameJoiner,
    StreamBuffer,
    Streams,
    data_size,
)
from accp_core.accp.session.parts import MAX_BASES, Arrival, ContextTracker, Negotiation, RequestChains, SessionParts
from accp_core.accp.session.receiver import IncomingFrame, Receiver
from accp_core.accp.session.sender import Sender
from accp_core.accp.state.context_state import ContextState
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.references import StoredText
from accp_core.strict_json import compact_json, has_surrogate_pair, read_json

__all__ = ["MAX_SNAPSHOT_BYTES", "Reading", "Snapshot", "read_snapshot", "write_snapshot"]

VERSION: Final = 1
"""The version of the form; a process refuses one that it does not know."""
MAX_SNAPSHOT_BYTES: Final = 1 << 26
"""Bytes of a snapshot, in both directions."""
_MAX_SHOWN: Final = 40


class Fault(ValueError):
    """A value does not fit; the reader of the value around it adds the place."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"{reason}, at {place.removeprefix('.') or 'the top'}")
        self.reason = reason
        self.place = place


@dataclass(frozen=True, slots=True)
class Reading:
    """What a value needs to be read besides its data."""

    codec: Codec
    options: SessionOptions


@dataclass(frozen=True, slots=True)
class Shape:
    """How a value is written and read."""

    write: Callable[[Any], Any]
    """Returns the JSON value."""
    read: Callable[[Any, Any, Reading], Any]
    """Returns the value, from its JSON, from the value of the fresh session in this place, and from what is known.

    Raises `Fault`, or any other ValueError, where the data does not fit.
    """


def expect(fits: bool, expected: str, found: object) -> None:
    """Refuse data that does not fit."""
    if not fits:
        text = repr(found)
        raise Fault(f"expected {expected}, found {text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + '…'}")


def _read_step(shape: Shape, data: Any, old: Any, reading: Reading, step: str) -> Any:
    """Read a part of a container; what is wrong with it gets its place."""
    try:
        return shape.read(data, old, reading)
    except Fault as fault:
        raise Fault(fault.reason, step + fault.place) from None
    except ValueError as error:
        raise Fault(str(error), step) from None


class _AnyValue:
    """Stands in type hints for `Value`, whose own hint has no end."""


# --- shapes of plain values and containers ----------------------------------------------------------------------------


def _plain(fits: Callable[[Any], bool], expected: str) -> Shape:
    """Return the shape of values that JSON has as well."""

    def read(data: Any, _old: Any, _reading: Reading) -> Any:
        expect(fits(data), expected, data)
        return data

    return Shape(lambda value: value, read)


def _choice(kind: type[StrEnum]) -> Shape:
    def read(data: Any, _old: Any, _reading: Reading) -> StrEnum:
        expect(data in list(kind), f"one of {', '.join(kind)}", data)
        return kind(data)

    return Shape(str, read)


def _optional(shape: Shape) -> Shape:
    return Shape(
        lambda value: None if value is None else shape.write(value),
        lambda data, old, reading: None if data is None else shape.read(data, old, reading),
    )


def _array(item: Shape, make: Callable[[list[Any]], Any] = list) -> Shape:
    def read(data: Any, _old: Any, reading: Reading) -> Any:
        expect(isinstance(data, list), "an array", data)
        return make([_read_step(item, each, None, reading, f"[{place}]") for place, each in enumerate(data)])

    return Shape(lambda value: [item.write(each) for each in value], read)


def _row(*cells: Shape) -> Shape:
    """Return the shape of a tuple, which has one shape for each of its places."""

    def write(value: Any) -> list[Any]:
        return [cell.write(each) for cell, each in zip(cells, value, strict=True)]

    def read(data: Any, _old: Any, reading: Reading) -> tuple[Any, ...]:
        expect(isinstance(data, list) and len(data) == len(cells), f"an array of {len(cells)}", data)
        pairs = zip(cells, data, strict=True)
        return tuple(_read_step(cell, each, None, reading, f"[{place}]") for place, (cell, each) in enumerate(pairs))

    return Shape(write, read)


def _table(key: Shape, value: Shape) -> Shape:
    """Return the shape of a dictionary; one with a limit, as in the fresh session, may not be over it."""
    rows = _array(_row(key, value))

    def read(data: Any, old: Any, reading: Reading) -> dict[Any, Any]:
        pairs = rows.read(data, None, reading)
        found = dict(pairs)
        expect(len(found) == len(pairs), "each key once", len(pairs))
        if not isinstance(old, BoundedDict):
            return found
        expect(len(found) <= old.limit, f"at most {old.limit} entries", len(found))
        return _refilled(old, found)

    return Shape(lambda value: rows.write(value.items()), read)


def _refilled(old: BoundedDict[Any, Any], entries: Any) -> BoundedDict[Any, Any]:
    kept = BoundedDict[Any, Any](old.limit)
    kept.update(entries)
    return kept


def _members(data: Any, required: frozenset[str], known: frozenset[str]) -> dict[str, Any]:
    """Return the members of an object, which must have the required ones and no unknown one."""
    expect(isinstance(data, dict), "an object", data)
    if missing := required - data.keys():
        raise Fault(f"expected the member {min(missing)!r}, found none")
    if unknown := data.keys() - known:
        raise Fault(f"expected no other member, found {min(unknown)[:_MAX_SHOWN]!r}")
    return dict(data)


def _record(kind: Any) -> Shape:
    """Return the shape of a dataclass; fields that have their default are left out."""
    hints = {**get_type_hints(kind, localns={"Value": _AnyValue}), **_HINTS.get(kind, {})}
    shapes = {field.name: _shape(hints[field.name]) for field in fields(kind)}
    defaults = {
        each.name: each.default if each.default_factory is MISSING else each.default_factory() for each in fields(kind)
    }
    required = frozenset(name for name, default in defaults.items() if default is MISSING)

    def write(value: Any) -> dict[str, Any]:
        values = ((name, getattr(value, name)) for name in shapes)
        return {name: shapes[name].write(each) for name, each in values if each != defaults[name]}

    def read(data: Any, _old: Any, reading: Reading) -> Any:
        found = _members(data, required, frozenset(shapes)).items()
        return kind(**{name: _read_step(shapes[name], each, None, reading, f".{name}") for name, each in found})

    return Shape(write, read)


def _variant(kinds: Mapping[str, Any]) -> Shape:
    """Return the shape of a value of one of several types, each of which has a name."""
    names = {kind: name for name, kind in kinds.items()}

    def write(value: Any) -> list[Any]:
        name = names[type(value)]
        return [name, _shape(kinds[name]).write(value)]

    def read(data: Any, _old: Any, reading: Reading) -> Any:
        expect(isinstance(data, list) and len(data) == 2 and data[0] in list(kinds), "a name and a value", data)
        return _read_step(_shape(kinds[data[0]]), data[1], None, reading, "[1]")

    return Shape(write, read)


def _filled(attributes: Mapping[str, Any], check: Callable[[Any], None] | None) -> Shape:
    """Return the shape of an object that is filled where it stands; the `_` before a name is not written."""
    names = {name.removeprefix("_"): name for name in attributes}
    shapes = {name: _shape(hint) for name, hint in attributes.items()}
    known = frozenset(names)

    def write(value: Any) -> dict[str, Any]:
        return {name: shapes[attribute].write(getattr(value, attribute)) for name, attribute in names.items()}

    def read(data: Any, old: Any, reading: Reading) -> Any:
        target = StreamBuffer(reading.options.streams) if old is None else old
        for name, each in _members(data, known, known).items():
            before = getattr(target, names[name])
            value = _read_step(shapes[names[name]], each, before, reading, f".{name}")
            if value is not before:
                setattr(target, names[name], value)
        if check is not None:
            check(target)
        return target

    return Shape(write, read)


@cache
def _shape(hint: Any) -> Shape:
    """Return how a value of this type is written and read."""
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if isinstance(hint, Shape):
        return hint
    if hint in _SHAPES:
        return _SHAPES[hint]
    if origin in (Union, UnionType):
        return _optional(_shape(next(each for each in arguments if each is not NoneType)))
    if origin in (dict, BoundedDict, Mapping):
        return _table(*map(_shape, arguments))
    if origin is tuple and arguments[-1] is not ...:
        return _row(*map(_shape, arguments))
    if origin in (list, tuple, frozenset, deque):
        return _array(_shape(arguments[0]), origin)
    if origin in _STATE:
        return _filled(_STATE[origin], _CHECKS.get(origin))
    if is_dataclass(origin):
        return _record(origin)
    return _choice(origin)


# --- values of frames -------------------------------------------------------------------------------------------------


def _write_text(text: str) -> Any:
    plain = str.__str__(text)
    return {"$text": plain.encode("utf-8", "surrogatepass").hex()} if has_surrogate_pair(plain) else plain


def _read_text(data: Any, _old: Any, _reading: Reading) -> str:
    if isinstance(data, str):
        return data
    expect(isinstance(data, dict) and list(data) == ["$text"] and isinstance(data["$text"], str), "a text", data)
    try:
        return bytes.fromhex(data["$text"]).decode("utf-8", "surrogatepass")
    except ValueError:
        raise ValueError(f"expected the hexadecimal digits of a text, found {data['$text'][:40]!r}") from None


def _write_value(value: Value) -> Any:
    if isinstance(value, str):
        return _write_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return _write_map(value)
    if isinstance(value, list | tuple):
        return [_write_value(item) for item in value]
    if isinstance(value, Ref):
        return {"$ref": value.key}
    return {"$decimal": str(value)} if isinstance(value, Decimal) else {"$removed": True}


def _write_map(value: Mapping[str, Value]) -> dict[str, Any]:
    if any(key.startswith("$") or has_surrogate_pair(key) for key in value):
        return {"$map": [[_write_text(key), _write_value(member)] for key, member in value.items()]}
    return {str.__str__(key): _write_value(member) for key, member in value.items()}


def _read_value(data: Any, old: Any, reading: Reading) -> Value:
    if isinstance(data, list):
        return [_read_value(item, old, reading) for item in data]
    if not isinstance(data, dict):
        return data  # type: ignore[no-any-return]  # the JSON reader has checked it
    name = next(iter(data), "")
    if not name.startswith("$"):
        return {key: _read_value(member, old, reading) for key, member in data.items()}
    expect(len(data) == 1 and name in _TAGS, f"one of {', '.join(_TAGS)} alone", name)
    return _TAGS[name](data[name], old, reading)


def _read_decimal(data: Any, _old: Any, _reading: Reading) -> Decimal:
    expect(isinstance(data, str), "the digits of a decimal", data)
    try:
        return Decimal(data)
    except InvalidOperation:
        raise ValueError(f"expected the digits of a decimal, found {data[:40]!r}") from None


def _read_removed(data: Any, _old: Any, _reading: Reading) -> Value:
    expect(data is True, "true", data)
    return REMOVED


def _read_ref(data: Any, _old: Any, _reading: Reading) -> Ref:
    expect(isinstance(data, str), "the key of a reference", data)
    return Ref(data)


def _read_payload(data: Any, old: Any, reading: Reading) -> Value:
    payload = _read_value(data, old, reading)
    expect(isinstance(payload, dict), "a map", data)
    return payload


_TEXT: Final = Shape(_write_text, _read_text)
_VALUE: Final = Shape(_write_value, _read_value)
_PAYLOAD: Final = Shape(_write_value, _read_payload)
_TAGS: Final[Mapping[str, Callable[[Any, Any, Reading], Value]]] = {
    "$ref": _read_ref,
    "$decimal": _read_decimal,
    "$removed": _read_removed,
    "$text": lambda data, old, reading: _read_text({"$text": data}, old, reading),
    "$map": _table(_TEXT, _VALUE).read,
}


# --- values with a form of their own ----------------------------------------------------------------------------------

# Frames of ours were within the limits when they were made, which another process may have set otherwise.
_ANY_LENGTH: Final = GrammarLimits(frame_bytes=1 << 40, members=1 << 40, msg_id_chars=1 << 40)


# The metadata of a frame of ours is read from its text.
def _read_frame_text(data: Any, old: Any, reading: Reading) -> delivery.FrameText:
    text = _read_text(data, old, reading)
    return delivery.FrameText(text, frame_head(text, limits=_ANY_LENGTH).envelope)


# A frame of a peer is parsed again.
def _read_arrival(data: Any, old: Any, reading: Reading) -> Arrival:
    text = _read_text(data, old, reading)
    return Arrival(reading.codec.read(text), text)


def _write_seen(seen: dict[str, tuple[str, int]]) -> list[list[Any]]:
    """Return sender, first number and ids of each run of frames with consecutive numbers; no id has a blank."""
    runs = groupby(enumerate(seen.items()), key=lambda each: (each[1][1][0], each[1][1][1] - each[0]))
    return [_write_run(sender, [entry for _, entry in run]) for (sender, _), run in runs]


def _write_run(sender: str, entries: list[tuple[str, tuple[str, int]]]) -> list[Any]:
    return [sender, entries[0][1][1], " ".join(mid for mid, _ in entries)]


def _read_seen(data: Any, old: Any, reading: Reading) -> Any:
    runs = _shape(list[tuple[str, int, str]]).read(data, None, reading)
    pairs = [
        (mid, (sender, number)) for sender, first, mids in runs for number, mid in enumerate(mids.split(" "), first)
    ]
    kept = _refilled(old, pairs)
    expect(len(kept) == len(pairs) <= old.limit, f"at most {old.limit} ids, each once", len(pairs))
    return kept


def _write_exchanges(exchanges: dict[str, Exchange]) -> list[Any]:
    """Return one entry for each exchange: of most only the id, as these were asked and answered."""
    write = _shape(Exchange).write
    return [name if each == _answered(name) else write(each) for name, each in exchanges.items()]


def _read_exchanges(data: Any, old: Any, reading: Reading) -> Any:
    found = _array(Shape(_write_value, _read_exchange)).read(data, None, reading)
    by_id = {each.id: each for each in found}
    limit = getattr(old, "limit", reading.options.exchanges)
    expect(len(by_id) == len(found) <= limit, f"at most {limit} exchanges, each once", len(found))
    return _refilled(old, by_id) if isinstance(old, BoundedDict) else by_id


def _read_exchange(data: Any, old: Any, reading: Reading) -> Any:
    return _answered(data) if isinstance(data, str) else _shape(Exchange).read(data, old, reading)


def _answered(name: str) -> Exchange:
    return Exchange(id=name, state=ExchangeState.CLOSED, request_id=name)


def _write_registry(registry: SchemaRegistry) -> Any:
    """Return the payload that sends a registry; of the one that every agent has, what announces it."""
    return _write_value(registry.announcement() if registry.hash == BUILT_IN.hash else registry.offer())


def _read_registry(data: Any, old: Any, reading: Reading) -> SchemaRegistry:
    payload: Any = _read_payload(data, old, reading)
    try:
        if "schemas" in payload:
            return SchemaRegistry.from_offer(payload)
        expect(BUILT_IN.matches(read_hash(payload.get("hash"))), f"the hash {BUILT_IN.hash!r}", payload.get("hash"))
        return replace(BUILT_IN, version=payload.get("version"))
    except ProtocolError as error:
        raise ValueError(error.reason) from None


# --- the state of a session -------------------------------------------------------------------------------------------


def _check_inbox(inbox: delivery.Inbox[Arrival]) -> None:
    for count in inbox._counts.values():
        for number, arrival in count.held.items():
            expect(number == arrival.envelope.sequence, f"the frame with number {number}", arrival.envelope.sequence)


def _check_outbox(outbox: delivery.Outbox) -> None:
    numbers = [text.envelope.sequence or 0 for text in outbox._sent]
    expect(numbers == sorted(set(numbers)), "frames in the order of their numbers", numbers)
    expect(max(numbers, default=0) <= outbox.last, f"frames up to number {outbox.last}", numbers)
    outbox._characters = sum(map(len, outbox._sent))
    # What a connection reserved is kept until it comes again.
    outbox.reserve(min(outbox.spare, outbox._limits[0] + delivery.SPARE_FRAMES))


def _check_buffer(buffer: StreamBuffer) -> None:
    buffer._characters = sum(map(data_size, buffer._waiting.values()))


def _check_joiner(joiner: FrameJoiner) -> None:
    sizes = {
        stream: buffer._characters + sum(map(data_size, chunks)) for stream, (buffer, chunks) in joiner._streams.items()
    }
    joiner._characters = Counter(sizes)


def _check_negotiation(negotiation: Negotiation) -> None:
    expect(1 <= len(negotiation._bases) <= MAX_BASES, f"1 to {MAX_BASES} registries", len(negotiation._bases))
    negotiation._bases = deque(negotiation._bases, maxlen=MAX_BASES)
    negotiation._registry = negotiation._bases[-1]


_CHECKS: Final[Mapping[Any, Callable[[Any], None]]] = {
    FrameJoiner: _check_joiner,
    delivery.Inbox: _check_inbox,
    Negotiation: _check_negotiation,
    delivery.Outbox: _check_outbox,
    StreamBuffer: _check_buffer,
}
"""What is called with an object that was filled: it computes what follows, and refuses what contradicts itself."""

_INTEGER: Final = _plain(lambda data: type(data) is int, "a whole number")
_HINTS: Final[Mapping[Any, Mapping[str, Any]]] = {
    delivery.SequenceCount: {"last": _optional(_INTEGER), "forgotten": _INTEGER, "held": dict[int, Arrival]}
}
"""The fields whose type says too little: a number may be -1, and a frame is one of a peer."""
_EXCHANGES: Final = Shape(_write_exchanges, _read_exchanges)
# The events to which calls that return frames lead; any other event is returned by the call that leads to it.
_EVENT: Final = _variant({"opened": ExchangeOpened, "closed": ExchangeClosed, "checkpoint": CheckpointTaken})
_SHAPES: Final[Mapping[Any, Shape]] = {
    bool: _plain(lambda data: isinstance(data, bool), "true or false"),
    int: _plain(lambda data: type(data) is int and data >= 0, "a whole number from 0"),
    Any: _plain(lambda _: True, "a value"),
    None: Shape(lambda _: 0, lambda *_: None),
    str: _TEXT,
    _AnyValue: _VALUE,
    Mapping[str, _AnyValue]: _PAYLOAD,
    Ref: Shape(lambda ref: ref.key, _read_ref),
    Arrival: Shape(lambda arrival: arrival.text, _read_arrival),
    delivery.FrameText: Shape(str.__str__, _read_frame_text),
    SchemaRegistry: Shape(_write_registry, _read_registry),
}
_Names = tuple[str, str]
_STATE: Final[Mapping[Any, Mapping[str, Any]]] = {
    "session": {
        "_parts": SessionParts, "_sender": Sender, "_receiver": Receiver, "_heartbeat": delivery.Heartbeat,
        "_events": _array(_EVENT, deque), "_dropped": int, "_frames": list[delivery.FrameText],
        "_stored": list[StoredText],
    },
    SessionParts: {
        "now": int, "link": delivery.SessionLink, "inbox": delivery.Inbox, "outbox": delivery.Outbox,
        "chains": RequestChains, "negotiation": Negotiation, "transactions": Transactions, "context": ContextTracker,
    },
    delivery.SessionLink: {
        "state": delivery.LinkState, "greeting": int, "peer_greeting": int, "next": int, "resent": tuple[int, int],
        "pings": dict[str, int], "is_blocked": bool,
    },
    delivery.Inbox: {"_seen": Shape(_write_seen, _read_seen), "_counts": dict[str, delivery.SequenceCount[Arrival]]},
    delivery.Outbox: {"spare": int, "_sent": deque[delivery.FrameText], "last": int, "acknowledged": int},
    RequestChains: {
        "exchanges": Exchanges, "pending": delivery.PendingRequests, "joiner": FrameJoiner, "_streams": Streams,
    },
    Exchanges: {
        "_live": _EXCHANGES, "_finished": _EXCHANGES, "_cancelled": _EXCHANGES, "_names": dict[str, str],
        "_forgot_cancelled": bool,
    },
    delivery.PendingRequests: {"_requests": dict[str, delivery.PendingRequest]},
    FrameJoiner: {"_streams": dict[tuple[str, str | None], tuple[StreamBuffer, list[Message]]]},
    Streams: {"_buffers": dict[str, StreamBuffer]},
    StreamBuffer: {"_waiting": dict[int, Message], "_next": int, "_total": int | None},
    Negotiation: {
        "_bases": deque[SchemaRegistry], "_announced": str, "_offered": str, "_differed": str, "is_peer_known": bool,
    },
    Transactions: {"_chains": dict[str, str], "_frames": dict[_Names, None], "_terms": dict[_Names, str]},
    ContextTracker: {"state": ContextState, "_resync": bool},
    Sender: {"last": int, "frames": int, "tokens": int},
    Receiver: {"gap_at": int | None, "_ready": deque[Arrival], "_blocked": IncomingFrame | None},
    delivery.Heartbeat: {"_started": bool, "_last_heard": int, "_last_ping": int, "_reported": bool},
}  # fmt: skip
"""Attributes with their types, of the objects that a fresh session has already, and of the buffers of its streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The identity of a session, and its state as data, which is not checked yet."""

    session_id: str
    agent_id: str
    scope: delivery.SequenceScope
    state: Any

    def fill(self, session: Any, reading: Reading) -> None:
        """Put the state into a fresh session.

        Raises:
            ValueError: the state does not fit, with its place; the session may be half filled.
        """
        found, scopes = reading.options.scope, delivery.SequenceScope
        try:
            is_recognized = found is scopes.RECOGNIZED and self.scope is not scopes.SENDER
            expect(is_recognized or found is self.scope, f"options with the scope {self.scope.value!r}", found.value)
            _shape("session").read(self.state, session, reading)
        except RecursionError:
            raise ValueError("expected fewer levels in the snapshot of a session") from None
        parts = session._parts
        parts.inbox.scope, parts.inbox.sent = self.scope, session._sender.last
        parts.use_registry(parts.negotiation.registry)


def write_snapshot(session_id: str, agent_id: str, scope: delivery.SequenceScope, session: object) -> bytes:
    """Return a session as bytes.

    Raises:
        EncodeError: E1004, a value of its state is no JSON value or nested too deep; E2003, the bytes would be more
            than `MAX_SNAPSHOT_BYTES`.
    """
    try:
        state = Snapshot(session_id=session_id, agent_id=agent_id, scope=scope, state=_shape("session").write(session))
        data = compact_json({"accp_session": VERSION, **_shape(Snapshot).write(state)}).encode()
    except RecursionError:
        raise EncodeError("expected fewer levels in the state of a session", code=ErrorCode.INVALID_TYPE) from None
    if len(data) > MAX_SNAPSHOT_BYTES:
        reason = f"expected a snapshot of at most {MAX_SNAPSHOT_BYTES} bytes, found {len(data)}"
        raise EncodeError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    return data


def read_snapshot(data: bytes, reading: Reading) -> Snapshot:
    """Return what `write_snapshot` wrote.

    Raises:
        ValueError: it is something else, or of another version.
    """
    expect(len(data) <= MAX_SNAPSHOT_BYTES, f"a snapshot of at most {MAX_SNAPSHOT_BYTES} bytes", len(data))
    found = read_json(data.decode())
    expect(isinstance(found, dict), "the snapshot of a session", found)
    version = found.pop("accp_session", None)
    expect(type(version) is int and version == VERSION, f"a snapshot of version {VERSION}", version)
    snapshot: Snapshot = _shape(Snapshot).read(found, None, reading)
    return snapshot
