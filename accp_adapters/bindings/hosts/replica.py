"""One session as its steps made it: the same in every worker that has taken the same steps (ACCP section 3.7)."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any, Final, cast

from accp_adapters.bindings.hosts.cold_texts import in_store
from accp_adapters.bindings.hosts.incoming import Incoming, digest_of
from accp_adapters.bindings.hosts.names import is_named
from accp_adapters.bindings.hosts.options import SessionKind
from accp_adapters.bindings.hosts.steps import SessionStep, StepKind
from accp_adapters.serving.off_loop import off_loop
from accp_core.accp.budget import FrameLimits
from accp_core.accp.codec import Codec
from accp_core.accp.codec.chunking import is_frame_chunk
from accp_core.accp.head import frame_head
from accp_core.accp.message import Message
from accp_core.accp.profiles import reply_correlation
from accp_core.accp.session.events import (
    CheckpointTaken,
    Event,
    FrameDropped,
    FrameHeld,
    FrameRefused,
    MessageReceived,
    RefsNeeded,
    ResumeImpossible,
)
from accp_core.accp.session.parts import Peer
from accp_core.accp.session.session import Session
from accp_core.accp.vocabulary import Intent
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import StoredText
from accp_core.strict_json import compact_json, read_json

__all__ = ["Replica"]

_LARGE: Final = 1 << 40
_REQUESTS: Final = frozenset({Intent.REQUEST, Intent.QUERY})
_ID_BYTES: Final = 6
_VERSION: Final = 1
_MAX_RAW_CHARS: Final = 1 << 18
_UNLIMITED: Final = FrameLimits(body_hard=_LARGE, total_hard=_LARGE)


class Replica:
    """A session, the answers to its last frames, and how many steps it has taken."""

    def __init__(self, name: str, session_id: str, kind: SessionKind, snapshot: str | None = None) -> None:
        """Start with a session that has taken no step, or with the one of a `snapshot`.

        Raises:
            ProtocolError: E9999, the text is no snapshot of this version.
        """
        self.name: Final = name
        """The name of its log, and the namespace of its texts in the cold store."""
        self._kind: Final = kind
        # What a frame does not say is not said in the answer.
        self._options = kind.options if is_named(name) else replace(kind.options, name_session=False)
        self.number = 0
        """The number of the last step."""
        self.now = 0
        """Its time, in seconds of the Unix epoch."""
        self._seen_at: float | None = None
        self.principal = ""
        """Whose session it is; "" before the first step."""
        self.connection = ""
        """The connection that its frames are pushed to; "" where there is none."""
        self.is_lost = False
        """Whether the peer misses a frame that is not kept any more, or we miss one of the peer's."""
        self.is_literal = False
        """Whether the peer has said nothing of resuming."""
        self.open: dict[str, Incoming] = {}
        """The msg_ids of the received frames that are not answered yet; the options bound their number."""
        self._answered: Final[BoundedDict[str, Incoming]] = BoundedDict(kind.answers)
        self._characters = 0
        self._raw: Final[dict[str, str]] = {}
        """Key to text of the raw data of checkpoints since the last snapshot: the log has what leads to them."""
        self._shared: list[StoredText] = []
        self._ids = 0
        self.unsaved_since = 0
        """The time of the first step after the last snapshot, 0 where there is none."""
        self._codecs: tuple[Codec | None, Codec] = (None, kind.codec)
        self.session = Session(session_id, kind.agent, codec=kind.codec, new_id=self._new_id, options=self._options)
        """The session."""

        if snapshot is not None:
            self._restore(snapshot)

    def time(self, clock: float) -> float:
        """Return the time of the session when our clock says `clock`.

        It goes on from the time of the last step where the clock of the worker that took it is ahead of ours.
        """
        if self._seen_at is None:
            self._seen_at = clock
        return max(clock, self.now + clock - self._seen_at)

    @property
    def characters(self) -> int:
        """About how long a snapshot is: the requests that are open, and the answers that are kept."""
        raw = sum(map(len, self._raw.values()))
        return self._characters + raw + sum(entry.characters() for entry in self.open.values())

    @property
    def has_much_raw(self) -> bool:
        """Whether a snapshot should be taken because the raw data of checkpoints is long."""
        return sum(map(len, self._raw.values())) > _MAX_RAW_CHARS

    def find(self, msg_id: str) -> Incoming | None:
        """Return what answers a received frame, None where it is unknown or forgotten."""
        return self.open.get(msg_id) or self._answered.get(msg_id)

    def answers(self, entry: Incoming) -> list[Message]:
        """Return the chunks that were sent until now of a stream that answers a request."""
        found = [self.session.codec.decode(frame, keep_refs=True) for frame in entry.frames]
        return [
            each for each in found if isinstance(each, Message) and each.schema == "ST" and not is_frame_chunk(each)
        ]

    async def apply(self, step: SessionStep, size: int = 0) -> list[str]:
        """Take a step; return the frames that it leads to.

        Args:
            step: The step.
            size: About how many characters it handles; for many a thread does the work, and no other task may use
                the session.

        Raises:
            ProtocolError: as `Session.send`; nothing has changed then, and the step must not be logged.
        """
        self._ids = 0
        if self.number == 0 and step.literal:
            self._expect_literal()
        if step.kind is StepKind.RECEIVE:
            frames = await self._receive(step, size)
        else:
            frames = await off_loop(size, _ACTIONS[step.kind], self, step)
        self._shared = [stored for stored in self.session.texts_to_store() if stored.key not in self._raw]
        self.number += 1
        self.now, self._seen_at = step.now, None
        self.unsaved_since = self.unsaved_since or step.now
        self.principal = self.principal or step.principal
        self._close()
        return frames

    # "A gap in sequence numbers MUST trigger error E3003" (section 3.7): at once, and the first number may be any.
    def _expect_literal(self) -> None:
        """Expect a peer that counts as the draft alone has it."""
        self.is_literal = True
        self._options = replace(self._options, scope=self._kind.sequence, first=None, reorder=0, gap_delay=0)
        self.session.expect_numbers(self._options)

    def snapshot(self) -> str:
        """Return everything as one text, which stands for all steps until now.

        Raises:
            EncodeError: as `Session.snapshot`.
        """
        entries = [*self._answered.items(), *self.open.items()]
        return compact_json(
            {
                "version": _VERSION,
                "number": self.number,
                "now": self.now,
                "principal": self.principal,
                "connection": self.connection,
                "is_lost": self.is_lost,
                "is_literal": self.is_literal,
                "entries": [[mid, *self._write_entry(entry)] for mid, entry in entries],
                "session": self.session.snapshot().decode(),
            }
        )

    def _restore(self, text: str) -> None:
        kind = self._kind
        try:
            found = read_json(text)
            if found["version"] != _VERSION:
                raise ValueError(f"expected version {_VERSION}, found {found['version']!r}")
            if found.get("is_literal"):
                self._expect_literal()
            self.session = Session.restore(
                found["session"].encode(), codec=kind.codec, new_id=self._new_id, options=self._options
            )
            self.number, self.now = found["number"], found["now"]
            self.principal, self.connection = found["principal"], found["connection"]
            self.is_lost = found["is_lost"]
            for mid, *fields in found["entries"]:
                self._keep(mid, self._read_entry(fields))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"expected a snapshot of the session {self.name!r}, found another text: {error}"
            raise ProtocolError(reason, code=ErrorCode.INTERNAL_ERROR) from error

    def _write_entry(self, entry: Incoming) -> list[Any]:
        request = None if entry.request is None else self.to_log(entry.request)
        return [entry.digest, entry.frames, entry.is_held, entry.number, request, entry.worker, entry.runs, entry.sent]

    def _read_entry(self, fields: list[Any]) -> Incoming:
        digest, frames, is_held, number, request, worker, runs, sent = fields
        message = None if request is None else self._read(request, self._kind.codec.decimal_type)
        entry = Incoming(digest=digest, size=len(request or ""), frames=frames, is_held=is_held, number=number)
        return replace(entry, request=message, worker=worker, runs=runs, sent=sent)

    def _keep(self, mid: str, entry: Incoming) -> None:
        """Keep what answers a frame; the oldest answers are forgotten for too many or too long ones."""
        if entry.is_open:
            self.open[mid] = entry
            return
        evicted = self._answered.put(mid, entry)
        self._characters += entry.characters() - (evicted[1].characters() if evicted else 0)
        while self._characters > self._kind.answer_characters and len(self._answered) > 1:
            self._characters -= self._answered.popitem(last=False)[1].characters()

    async def store_texts(self) -> None:
        """Put into the cold store what must be there before a frame of the last step is sent."""
        for stored in self._shared:
            await in_store(self._kind.store.put, self.name, stored.key, stored.text)

    async def store_raw(self) -> None:
        """Put into the cold store the raw data of checkpoints, before a snapshot takes the place of the log."""
        for key in list(self._raw):
            await in_store(self._kind.store.put, self.name, key, self._raw[key])
            del self._raw[key]

    async def _receive(self, step: SessionStep, size: int) -> list[str]:
        peer = None if step.agents is None else Peer(principal=step.principal, agents=frozenset(step.agents))
        entry = await off_loop(size, self._entry, step)
        events = await off_loop(size, partial(self.session.receive, step.text, step.now, peer=peer))
        for event in await self._resolve(events, step.now):
            self._note(event, step)
        frames: list[str] = [*self.session.frames_to_send()]
        entry.frames += frames
        return frames

    async def _resolve(self, events: list[Event], now: int) -> list[Event]:
        """Return the events with those that follow once the texts of the cold store were read."""
        store, taken = self._kind.store, list(events)
        while keys := [key for event in events if isinstance(event, RefsNeeded) for key in event.keys]:
            texts = {key: self._raw.get(key.key) or await in_store(store.get, self.name, key.key) for key in keys}
            size = sum(len(text or "") for text in texts.values())
            events = await off_loop(size, self.session.resolve, texts, now)
            taken += events
        return taken

    def _entry(self, step: SessionStep) -> Incoming:
        """Return the entry of a received frame; a frame that only has the msg_id of another one is not kept."""
        entry = Incoming(digest=digest_of(step.text), size=len(step.text))
        if step.name and self.find(step.name) is None:
            self.open[step.name] = entry
        return entry

    def _note(self, event: Event, step: SessionStep) -> None:
        """Keep what is to be answered later."""
        self.is_lost = self.is_lost or isinstance(event, ResumeImpossible)
        self._note_checkpoint(event)
        if isinstance(event, FrameHeld) and event.msg_id in self.open:
            self.open[event.msg_id].is_held = True
            self.open[event.msg_id].number = frame_head(step.text).envelope.sequence or 0
        # A frame that came too early was not taken: the peer sends the same text again when it is its turn.
        if isinstance(event, FrameRefused | FrameDropped) and event.frame is not None:
            envelope = event.frame.envelope
            if (envelope.sequence or 0) > self.session.received:
                self.open.pop(envelope.msg_id or "", None)
        if not isinstance(event, MessageReceived) or event.message.intent not in _REQUESTS:
            return
        mid = event.message.envelope.msg_id or ""
        entry = self.open[mid] = self.find(mid) or Incoming(digest="")
        entry.request, entry.worker, entry.runs, entry.is_held = event.message, step.worker, 1, False

    def _note_checkpoint(self, event: Event) -> None:
        if isinstance(event, CheckpointTaken):
            self._raw.update((stored.key, stored.text) for stored in event.checkpoint.stored)

    def _close(self) -> None:
        """Move the frames for which nothing more will be answered."""
        for mid, entry in list(self.open.items()):
            request = entry.request
            entry.is_held = entry.is_held and entry.number > self.session.received
            if request and not self.session.exchange(reply_correlation(request.envelope) or "").is_live:
                entry.request = None
            if not entry.is_open:
                self._keep(mid, self.open.pop(mid))

    def _send(self, step: SessionStep) -> list[str]:
        message = step.message or self._read(step.text)
        frames: list[str] = [*self.session.send(message, step.now)]
        for event in self.session.handle_timer(step.now):  # those of our own frames
            self._note_checkpoint(event)
        if entry := self.find(step.name):
            entry.frames += frames
            entry.sent += 1
        return frames

    def to_log(self, message: Message) -> str:
        """Return a message of ours as one frame, for a step that sends it.

        Raises:
            EncodeError: as `Codec.encode`.
            ProtocolError: as `Codec.encode`.
        """
        codec = self._journal_codec()
        return codec.write(codec.encode(message).frames[0])

    def _read(self, text: str, decimal_type: type[float] | type[Decimal] = Decimal) -> Message:
        """Return the message that `to_log` wrote."""
        codec = replace(self._journal_codec(), decimal_type=decimal_type)
        return cast(Message, codec.decode(text, keep_refs=True))

    def _journal_codec(self) -> Codec:
        """Return a codec that writes any message as one frame, and reads its numbers exactly."""
        known, codec = self._codecs
        if known is not self.session.codec:
            known = self.session.codec
            codec = replace(
                known,
                counter=len,
                limits=_UNLIMITED,
                split=False,
                shared_store=False,
                decimal_type=Decimal,
                decimal="exact",
            )
            self._codecs = known, codec
        return codec

    def _connect(self, step: SessionStep) -> list[str]:
        self.connection = step.name
        return [] if self.is_literal else list(self.session.connected(step.now))

    def _disconnect(self, step: SessionStep) -> list[str]:
        if self.connection == step.name:
            self.connection = ""
            if not self.is_literal:
                self.session.disconnected(step.now)
        return []

    def _handle_timer(self, step: SessionStep) -> list[str]:
        self.session.handle_timer(step.now)
        frames = self.session.frames_to_send()
        for frame in frames:
            if entry := self.open.get(frame.envelope.correlation_id or ""):
                entry.frames.append(frame)
        return list(frames)

    def _take_over(self, step: SessionStep) -> list[str]:
        for entry in self.open.values():
            if entry.worker == step.name:
                entry.worker = step.worker
                entry.runs += 1
        return []

    def _give_up(self, step: SessionStep) -> list[str]:
        if entry := self.open.get(step.name):
            entry.request = None
        return []

    def _new_id(self) -> str:
        """Return the msg_id of the next frame: the same one when the same step is taken again."""
        self._ids += 1
        words = f"{self.name}\0{self._kind.agent}\0{self.number + 1}\0{self._ids}"
        return hmac.digest(self._kind.secret, words.encode("utf-8", "surrogatepass"), "sha256")[:_ID_BYTES].hex()


_ACTIONS: Final[Mapping[StepKind, Callable[[Replica, SessionStep], list[str]]]] = {
    StepKind.SEND: Replica._send,
    StepKind.CONNECT: Replica._connect,
    StepKind.DISCONNECT: Replica._disconnect,
    StepKind.TIMER: Replica._handle_timer,
    StepKind.TAKE_OVER: Replica._take_over,
    StepKind.GIVE_UP: Replica._give_up,
}
"""What each kind of step does; receiving may wait for the cold store."""
