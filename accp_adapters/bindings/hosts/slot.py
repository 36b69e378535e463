"""One session in the memory of a worker: its name, its requests and their answers, and all of it as one text."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from inspect import isawaitable
from typing import Any, Final, TypeAlias, cast
from urllib.parse import quote

from accp_adapters.bindings.clock import Signal
from accp_adapters.serving.limits import weight_of
from accp_adapters.serving.principals import Principal
from accp_adapters.serving.requests import OutOfReach
from accp_core.accp.budget import FrameLimits
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Intent, Message, Value
from accp_core.accp.parser import frame_head
from accp_core.accp.profiles import error_message, reply_correlation, tool_error
from accp_core.accp.session import events
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.session import Session
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import StoredText
from accp_core.strict_json import compact_json, read_json

__all__ = [
    "HOST_SESSION", "MAX_SESSION_ID", "Answer", "Connection", "Handler", "HostLimits", "Received", "Request",
    "SessionKind", "Slot", "answers_of", "check_session_id", "digest_of", "failure_of", "name_of",
    "owner_of",
]  # fmt: skip


_VERSION: Final = 2
_MAX_WEIGHT: Final = 256 << 20
"""Bytes that a stored session may take once it is read; whoever writes the store may not take more of a worker."""
_UNLIMITED: Final = FrameLimits(body_hard=1 << 40, total_hard=1 << 40)
_REQUESTS: Final = frozenset({Intent.REQUEST, Intent.QUERY})


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """The limits and times of a host; times are in seconds."""

    sessions: int = 10_000
    """Sessions of a worker; for another one, the principal that has most loses its oldest."""
    sessions_each: int = 1_000
    """Sessions of one principal; for another one it loses its oldest, or is refused (E2003) where all are in use."""
    characters: int = 128 << 20
    """Characters of all sessions in the memory of a worker; beyond, as `sessions`. Those in a store are read again."""
    characters_each: int = 32 << 20
    """The same for the sessions of one principal."""
    answers: int = 128
    """Frames of a session whose answers are kept for a peer that sends the same frame again."""
    answer_characters: int = 1 << 20
    """Characters of the answers of a session that are kept; beyond them the oldest are forgotten, but never the last.
    Each step writes them to the store."""
    handlers: int = 256
    """Requests that a worker handles at once, a quarter of them for one principal; more wait."""
    handler_time: float = 600.0
    """How long a handler may take, then E3001."""
    answer_wait: float = 660.0
    """How long `frames` waits for the answer to a request, then E3001; the answer is recorded all the same."""
    takeover_wait: float = 5.0
    """How long `frames` waits for the answer of another worker that has taken over the session, then E3001."""


HOST_SESSION: Final = events.SessionOptions(
    first=1, reorder=64, gap_delay=2, remembered=256, exchanges=128, name_session=True, timeout=None
)
"""The options of a host's sessions: frames that overtake each other in parallel HTTP requests are put in order."""


@dataclass(frozen=True, slots=True)
class SessionKind:
    """What the sessions of a host have in common."""

    agent: str
    codec: Codec
    literal: Codec
    """For peers that say nothing of resuming."""
    options: events.SessionOptions
    limits: HostLimits


@dataclass(slots=True)
class Received:
    """A received frame and what answers it."""

    digest: str
    """Of its text: the same frame again gets the same answer."""
    frames: list[str] = field(default_factory=list)
    """What was answered so far."""
    number: int = 0
    """Its sequence number while it waits for an earlier frame, also after E3003 has named that one; else 0."""
    request: Message | None = None
    """The request that a handler answers; None where there is nothing to answer any more."""
    runs: int = 0
    """How many workers began to handle it."""
    sent: list[str] = field(default_factory=list)
    """Digests of the messages of a handler that answer it: another run has to come to the same ones."""
    size: int = 0
    """Its characters, which count as long as its request is kept."""

    @property
    def is_open(self) -> bool:
        """Whether more will be answered."""
        return bool(self.number) or self.request is not None

    def characters(self) -> int:
        """Return how long the answers are, and the request as long as that is open."""
        return sum(map(len, self.frames)) + (self.size if self.is_open else 0)


def digest_of(text: str) -> str:
    """Return by what a text is recognized when it comes again."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


class Connection:
    """One connection of a session: give it what was received, send what it yields."""

    def __init__(self, number: int, receive: Callable[[str], Awaitable[None]]) -> None:
        """Start without frames; the host makes it. `number` is that of the first frame."""
        self.number: Final = number
        self.receive: Final = receive
        """Takes a received frame; what answers it is yielded, and requests are handled in the background.

        Raises:
            DecodeError: The text has no readable head: send `SessionHost.refusal` of it.
            ProtocolError: E5001, the frame is of another session; E3001, the store is unreachable: close the
                connection.
        """
        self._frames: Final[asyncio.Queue[str | None]] = asyncio.Queue()
        self.is_replaced = False
        """Whether the session has another connection; else, once the iteration has ended, the peer connects again."""

    def push(self, frames: list[str]) -> None:
        """Yield frames."""
        for frame in frames:
            self._frames.put_nowait(frame)

    def end(self, *, is_replaced: bool) -> None:
        """End the iteration."""
        self.is_replaced = is_replaced
        self._frames.put_nowait(None)

    def __aiter__(self) -> Connection:
        """Return itself."""
        return self

    async def __anext__(self) -> str:
        """Return the next frame to send; the iteration ends when the peer has, or needs, another connection."""
        frame = await self._frames.get()
        if frame is None:
            self._frames.put_nowait(None)
            raise StopAsyncIteration
        return frame


class Slot:
    """Where a worker keeps one session; without one before it was read, and after another worker has taken it over."""

    def __init__(self, name: str, session_id: str, kind: SessionKind) -> None:
        """Start without a session."""
        self.name: Final = name
        """The name of the session in the store, and the namespace of its texts."""
        self.session_id: Final = session_id
        self._kind: Final = kind
        # What a frame does not say is not said in the answer.
        is_named = name.startswith(f"{_NAMED}/")
        self._options: Final = kind.options if is_named else replace(kind.options, name_session=False)
        self.lock: Final = asyncio.Lock()
        """Held while a step is taken."""
        self.tasks: Final[dict[str, asyncio.Task[None]]] = {}
        """The running handlers, by the msg_id of their request."""
        self.recording: str | None = None
        """The request whose answer is being recorded: its handler ends by itself."""
        self.connection: Connection | None = None
        self.version = 0
        """The version that is stored; 0 where none is."""
        self.changed: Final = Signal()
        """Notified after each step."""
        self.session: Session | None = None
        self._begin()

    def _begin(self) -> None:
        self.principal = ""
        """Whose session it is; "" before the first step."""
        self.connected = 0
        """The number of the first frame of the connection: one with a lower number is an older one."""
        self.ahead = 0.0
        """Seconds by which the worker that took the last step was ahead of our clock."""
        self.is_lost = False
        """Whether the peer misses a frame that is not kept any more, or we miss one of the peer's."""
        self.is_literal = False
        """Whether the peer has said nothing of resuming."""
        self.received: dict[str, Received] = {}
        """The received frames by msg_id, the oldest first."""
        self.to_store: list[StoredText] = []
        """Texts that must be in the store before the step counts."""
        self.kept = 0
        """Characters of its texts that the process keeps, where there is no store."""

    @property
    def is_busy(self) -> bool:
        """Whether a step is being taken, a connection is open, or a request waits for its answer."""
        return self.lock.locked() or self.connection is not None or any(each.is_open for each in self.received.values())

    @property
    def characters(self) -> int:
        """About how many characters it takes in memory."""
        return self.kept + sum(entry.characters() for entry in self.received.values())

    def forget(self) -> None:
        """Drop the session: its handlers end, and its peer connects again."""
        self.session = None
        self._begin()
        for task in self.tasks.values():
            task.cancel()
        if self.connection is not None:
            self.connection.end(is_replaced=False)
            self.connection = None
        self.changed.notify()

    # "A gap in sequence numbers MUST trigger error E3003" (section 3.7): at once, and the first number may be any.
    def start(self, *, is_literal: bool) -> None:
        """Start a new session, with a peer that counts as the draft alone has it, or one that resumes."""
        self.is_literal = is_literal
        self.session = Session(
            self.session_id, self._kind.agent, codec=self._codec_now(), new_id=_new_id, options=self._options_now()
        )

    def _codec_now(self) -> Codec:
        return self._kind.literal if self.is_literal else self._kind.codec

    def _options_now(self) -> events.SessionOptions:
        if not self.is_literal:
            return self._options
        return replace(self._options, scope=SequenceScope.RECOGNIZED, first=None, reorder=0, gap_delay=0)

    def note(self, event: events.Event, text: str, session: Session) -> None:
        """Keep what is to be stored, and what is to be answered later."""
        self.is_lost = self.is_lost or isinstance(event, events.ResumeImpossible)
        if isinstance(event, events.CheckpointTaken):
            self.to_store += event.checkpoint.stored
        elif isinstance(event, events.FrameHeld) and event.msg_id in self.received:
            self.received[event.msg_id].number = frame_head(text).envelope.sequence or 0
        # A frame that came too early was not taken: the peer sends the same text again when it is its turn.
        elif isinstance(event, events.FrameRefused | events.FrameDropped) and event.frame is not None:
            envelope = event.frame.envelope
            if (envelope.sequence or 0) > session.received:
                self.received.pop(envelope.msg_id or "", None)
        elif isinstance(event, events.MessageReceived) and event.message.intent in _REQUESTS:
            entry = self.received.setdefault(event.message.envelope.msg_id or "", Received(""))
            entry.request, entry.runs, entry.number = event.message, 1, 0

    def close_answered(self, session: Session) -> None:
        """Note which frames get no more answers, end their handlers, and forget the oldest answers."""
        for mid, entry in self.received.items():
            if entry.number <= session.received:
                entry.number = 0
            if entry.request and not session.exchange(reply_correlation(entry.request.envelope) or "").is_live:
                entry.request = None
            if entry.request is None and mid in self.tasks and mid != self.recording:
                self.tasks[mid].cancel()
        answered = [mid for mid, entry in self.received.items() if not entry.is_open]
        characters, limits = sum(self.received[mid].characters() for mid in answered), self._kind.limits
        while len(answered) > 1 and (len(answered) > limits.answers or characters > limits.answer_characters):
            characters -= self.received.pop(answered.pop(0)).characters()

    def snapshot(self, session: Session, now: int) -> str:
        """Return everything as one text.

        Raises:
            EncodeError: as `Session.snapshot`.
        """
        return compact_json(
            {
                "version": _VERSION,
                "now": now,
                "principal": self.principal,
                "connected": self.connected,
                "is_lost": self.is_lost,
                "is_literal": self.is_literal,
                "received": [[mid, *self._written(entry, session)] for mid, entry in self.received.items()],
                "session": session.snapshot().decode(),
            }
        )

    def _written(self, entry: Received, session: Session) -> list[Any]:
        request = None
        if entry.request is not None:
            codec = _whole(session.codec)
            request = codec.write(codec.encode(entry.request).frames[0])
        return [entry.digest, entry.frames, entry.number, request, entry.runs, entry.sent]

    def restore(self, text: str, clock: float) -> None:
        """Go on with the session that `snapshot` wrote; what is open is run once more.

        Raises:
            ProtocolError: E9999, the text is no snapshot of this version.
        """
        try:
            if weight_of(text) > _MAX_WEIGHT:
                raise ValueError("too many values")
            found = read_json(text)
            if found["version"] != _VERSION:
                raise ValueError(f"expected version {_VERSION}, found {found['version']!r}")
            self.principal, self.connected = found["principal"], found["connected"]
            self.is_lost, self.is_literal = found["is_lost"], found["is_literal"]
            self.ahead = max(0.0, found["now"] - clock)
            session = Session.restore(
                found["session"].encode(), codec=self._codec_now(), new_id=_new_id, options=self._options_now()
            )
            codec = replace(_whole(session.codec), decimal_type=self._kind.codec.decimal_type)
            for mid, digest, frames, number, request, runs, sent in found["received"]:
                message = None if request is None else cast(Message, codec.decode(request, keep_refs=True))
                self.received[mid] = Received(
                    digest, frames, number, message, runs + (message is not None), sent, len(request or "")
                )
            self.session = session
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"expected a snapshot of the session {self.name!r}, found another text: {error}"
            raise ProtocolError(reason, code=ErrorCode.INTERNAL_ERROR) from error


def _whole(codec: Codec) -> Codec:
    """Return a codec that writes any message as one frame, and its numbers exactly."""
    return replace(
        codec, counter=len, limits=_UNLIMITED, split=False, shared_store=False, decimal_type=Decimal, decimal="exact"
    )


def whole_answer(data: str, mid: str) -> Received | None:
    """Return what a snapshot has as answer to a received frame, None where there is none or more will come."""
    for found, digest, frames, number, request, *_ in read_json(data)["received"]:
        if found == mid and not number and request is None:
            return Received(digest, frames)
    return None


def _new_id() -> str:
    return secrets.token_hex(6)


# What an application gets and gives: a request, and its answer or its stream (ACCP sections 4.1, 10.2 and 10.4).

_NO_ANSWERS: Final = frozenset({Intent.REQUEST, Intent.QUERY, Intent.CANCEL})

_OF_THE_SESSION: Final = frozenset({ErrorCode.DUPLICATE, ErrorCode.SEQUENCE_GAP})
"""Codes about the delivery of a frame (section 3.7): the request that they name goes on, so they answer none."""

Answer: TypeAlias = "Message | Mapping[str, Value]"
"""A whole message; or its payload alone, of a `done` with the operation and the schema of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request or a query of a peer."""

    agent: str
    """The agent that is asked: this one."""
    message: Message
    """The request, with references resolved and defaults filled in."""
    idempotency_key: str
    """The msg_id of the request. A handler may run again for the same request, after the worker that ran it was killed:
    what it does beyond its answer, it must do once for each `(principal, session_id, idempotency_key)`."""
    session_id: str
    """The session; another principal may have one with the same id."""
    principal: str
    """Whom the transport has authenticated; the agent that asks is `message.sender`."""
    runs: int = 1
    """Which run this is; more than 1 where workers were lost."""


Handler: TypeAlias = Callable[[Request], "Awaitable[Answer | AsyncIterator[Answer]] | AsyncIterator[Answer]"]
"""The application. It returns one answer; or yields the chunks of a stream, each a payload, which becomes one ST frame.

A `ProtocolError` that it raises is the peer's answer, with its code (E4002 for E3002 and E3003); any other exception is
E4002 or E9999 without a word about its reason."""


async def answers_of(handler: Handler, request: Request) -> AsyncIterator[Message]:
    """Yield the messages that answer a request: one, or the chunks of a stream and its end."""
    result: Any = handler(request)
    if isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        yield _reply(request, result)
        return
    count = 0
    async for chunk in result:
        yield _chunk(request, chunk, count)
        count += 1
    yield _stream(request, {"chunk_index": count, "data": "", "is_final": True})


def failure_of(request: Request, error: Exception) -> Message:
    """Return the answer to a request whose handler failed."""
    cid = reply_correlation(request.message.envelope)
    if isinstance(error, ProtocolError) and error.code in _OF_THE_SESSION:
        return error_message(request.agent, ErrorCode.TOOL_EXEC_FAILED, str(error), correlation_id=cid)
    if isinstance(error, ProtocolError) and error.code in set(ErrorCode) and not isinstance(error, OutOfReach):
        return error_message(request.agent, ErrorCode(error.code), error.reason, correlation_id=cid)
    if isinstance(error, TimeoutError):
        return error_message(request.agent, ErrorCode.TIMEOUT, "the handler took too long", correlation_id=cid)
    if request.message.schema == "TC":
        return tool_error(request.agent, request.message, "the tool failed")
    return error_message(request.agent, ErrorCode.INTERNAL_ERROR, "internal error", correlation_id=cid)


def _reply(request: Request, answer: object) -> Message:
    """Return an answer as a message that names its request."""
    asked, cid = request.message, reply_correlation(request.message.envelope)
    if isinstance(answer, Message):
        if answer.intent in _NO_ANSWERS:
            raise TypeError(f"expected an answer, found a message of intent {answer.intent.value!r}")
        return replace(answer, sender=request.agent, envelope=replace(answer.envelope, correlation_id=cid))
    if not isinstance(answer, Mapping):
        raise TypeError(f"expected a Message, a mapping or an async iterator as answer, found {answer!r:.80}")
    return Message(
        sender=request.agent,
        intent=Intent.COMPLETE,
        operation=asked.operation,
        payload=answer,
        schema=asked.schema,
        envelope=Envelope(correlation_id=cid),
    )


def _chunk(request: Request, chunk: object, index: int) -> Message:
    """Return the ST message of one chunk of a stream."""
    if isinstance(chunk, Message):
        return _reply(request, chunk)
    data = chunk["data"] if isinstance(chunk, Mapping) and set(chunk) == {"data"} else chunk
    return _stream(request, {"chunk_index": index, "data": data})


def _stream(request: Request, payload: Mapping[str, Any]) -> Message:
    return replace(_reply(request, payload), intent=Intent.STREAM, schema="ST")


# Which session a frame is of: its id among those of its principal (ACCP section 9).
#
# Sessions of two principals are different ones, also with the same id: no answer tells which ids others use. The name
# of a session is that of its log, and the namespace of its texts in the cold store.

MAX_SESSION_ID: Final = 64
"""Characters of a session id, as many as of a msg_id: each frame names it."""
_NAMED: Final = "s"
_UNNAMED: Final = "n"


def name_of(principal: Principal, session_id: str | None, otherwise: str) -> str:
    """Return the name of a session: that which its frames name, or another one that its principal has."""
    kind, rest = (_UNNAMED, otherwise) if session_id is None else (_NAMED, session_id)
    # A slash stands behind the name of the principal.
    return f"{kind}/{quote(principal.name, safe='', errors='surrogatepass')}/{rest}"


def owner_of(name: str) -> str:
    """Return whose session a name is of: the principal, as the name writes it."""
    return name.split("/", 2)[1]


def check_session_id(session_id: str) -> None:
    """Refuse a session id that no answer could carry.

    Raises:
        ProtocolError: E1001.
    """
    if len(session_id) > MAX_SESSION_ID:
        found = f"{len(session_id)}: {session_id!r:.40}"
        reason = f"expected a session id of at most {MAX_SESSION_ID} characters, found {found}"
        raise ProtocolError(reason, code=ErrorCode.PARSE_ERROR)
