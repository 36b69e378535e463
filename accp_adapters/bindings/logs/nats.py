"""Logs in NATS JetStream, for several machines.

Texts are messages of one stream, each log in its own subject; leases and snapshots are in a key-value bucket. NATS
compares and sets: a text is accepted only as the next one after the last that its writer knows of
(`Nats-Expected-Last-Subject-Sequence`), and a lease changes only where its revision did not.

Clocks are not compared. A lease that its holder did not give back counts as ended when somebody has seen it unchanged
for its whole time. Whoever takes it then writes an empty message first, so that a text that its old holder writes later
is not the next one any more.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from accp_adapters.extras import needs

with needs("nats"):
    import nats
    import nats.errors
    from nats.aio.client import Client
    from nats.js import JetStreamContext
    from nats.js.api import Header, KeyValueConfig, StorageType, StreamConfig
    from nats.js.errors import APIError, BadRequestError, KeyNotFoundError, KeyWrongLastSequenceError, NotFoundError
    from nats.js.kv import KeyValue

from accp_adapters.bindings.logs.frame_log import Fence, Fenced, LogError, check_texts
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.stores.texts import encode_name, pack_text, unpack_text
from accp_core.bounded import BoundedDict
from accp_core.strict_json import compact_json, read_json

__all__ = ["NatsFrameLog", "log_token"]

_NUMBER: Final = "Accp-Number"
_WRONG_LAST: Final = frozenset({10071, 10164})
_REMEMBERED: Final = 10_000
_MAX_CONFLICTS: Final = 16


@dataclass(slots=True)
class _Held:
    """A lease that this process holds."""

    revision: int
    """Of its entry in the bucket."""
    number: int
    """Of the last text."""
    sequence: int
    """Of the last message of the subject, in the stream."""
    first: int
    """The number of the snapshot, as far as it is known."""
    ends: float
    """When it ends, by our clock."""


class NatsFrameLog:
    """A `FrameLog` in NATS JetStream 2.9 or newer; for one event loop."""

    def __init__(
        self,
        url: str = "nats://localhost:4222",
        *,
        namespace: str = "accp",
        ttl: float = 604_800.0,
        replicas: int = 1,
        clock: Callable[[], float] = time.monotonic,
        **options: Any,
    ) -> None:
        """Use the server at `url`; the first use connects to it, and creates stream and bucket where they are missing.

        Args:
            url: The address of a server, or several with commas between them.
            namespace: The name of stream and bucket, and the beginning of the subjects: letters, digits, `_`.
            ttl: Seconds until a text, a snapshot or a lease that did not change is removed.
            replicas: How many servers of a cluster keep each message; 3 survives the loss of one.
            clock: Returns seconds; only differences count.
            options: For `nats.connect`, such as `user_credentials` or `tls`.

        Raises:
            ValueError: `namespace` is no such name.
        """
        if not namespace.replace("_", "a").isalnum() or not namespace.isascii():
            raise ValueError(f"expected letters, digits and _ as namespace, found {namespace!r}")
        self._url: Final = url.split(",")
        self._name: Final = namespace
        self._ttl: Final = ttl
        self._replicas: Final = replicas
        self._clock: Final = clock
        self._options: Final = {"connect_timeout": 5, "max_reconnect_attempts": -1, **options}
        self._client: Client | None = None
        self._opening: Final = asyncio.Lock()
        self._js: JetStreamContext
        self._bucket: KeyValue
        self._held: Final[dict[tuple[str, int], _Held]] = {}
        self._seen: Final[BoundedDict[str, tuple[int, float]]] = BoundedDict(_REMEMBERED)
        self._places: Final[BoundedDict[str, tuple[int, int]]] = BoundedDict(_REMEMBERED)

    async def lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        """Take the lease of `name`, as `FrameLog.lease`."""
        await self._open()
        with self._refusals("lease"):
            revision, state = await self._lease_state(name)
            if state["ends"] and not self._has_ended(name, revision, state["ends"]):
                return None
            taken = await self._write_lease(name, revision, {**state, "ends": seconds, "owner": owner})
            if taken is None:
                return None
            held = _Held(taken, state["number"], state["sequence"], state["first"], self._clock() + seconds)
            if state["ends"]:
                await self._shut_out(name, held)
            else:
                await self._find_last(name, held)
        self._held[name, taken] = held
        return Fence(name=name, owner=owner, token=taken, last=held.number)

    async def renew(self, fence: Fence, seconds: float) -> None:
        """Let the lease end `seconds` from now, as `FrameLog.renew`."""
        await self._open()
        held = self._check(fence)
        with self._refusals("renew"):
            if not await self._rewrite(fence, held, seconds):
                raise self._lost(fence)
        held.ends = self._clock() + seconds

    async def release(self, fence: Fence) -> None:
        """End the lease, as `FrameLog.release`."""
        held = self._held.pop((fence.name, fence.token), None)
        if held is not None:
            with self._refusals("release"):
                await self._rewrite(fence, held, 0)

    async def append(self, fence: Fence, number: int, text: str) -> bool:
        """Append a text, as `FrameLog.append`."""
        await self._open()
        held = self._check(fence)
        if number != held.number + 1:
            return False
        check_texts(number - held.first, text)
        with self._refusals("append"):
            sequence = await self._publish(fence.name, held.sequence, number, text)
        if sequence is None:
            raise self._lost(fence)
        held.number, held.sequence = number, sequence
        self._places.put(fence.name, (number, sequence))
        return True

    async def append_next(self, name: str, number: int, text: str) -> bool:
        """Append a text without a lease, as `FrameLog.append_next`; the lease is not looked at.

        A worker that holds it meanwhile finds that its own text is not the next one any more.
        """
        await self._open()
        check_texts(0, text)
        last, sequence = self._places.get(name, (0, 0))
        if last != number - 1:
            return False
        with self._refusals("append"):
            appended = await self._publish(name, sequence, number, text)
        if appended is None:
            self._places.pop(name, None)
            return False
        self._places.put(name, (number, appended))
        return True

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        """Return the texts after number `after`, as `FrameLog.read`."""
        await self._open()
        number, sequence = self._places.get(name, (0, 0))
        sequence = sequence if number <= after else 0
        while True:
            with self._refusals("read"):
                try:
                    message = await self._js.get_msg(self._name, sequence + 1, self._subject(name), next=True)
                except NotFoundError:
                    return
            sequence = message.seq or 0
            number = int((message.headers or {}).get(_NUMBER, 0))
            self._places.put(name, (number, sequence))
            if message.data and number > after:
                after = number
                yield number, message.data.decode()

    async def save(self, fence: Fence, number: int, text: str) -> None:
        """Replace the snapshot, as `FrameLog.save`; the last message stays, as the next one is checked against it."""
        await self._open()
        held = self._check(fence)
        packed = b"%d\n" % number + await off_loop(len(text), pack_text, text)
        check_texts(0, "", len(packed))
        with self._refusals("save"):
            if not await self._rewrite(fence, held, max(held.ends - self._clock(), 0.001)):
                raise self._lost(fence)
            if not await self._put_snapshot(fence.name, number, packed):
                raise self._lost(fence)
            await self._js.purge_stream(self._name, seq=held.sequence, subject=self._subject(fence.name))
        held.first = number

    async def snapshot(self, name: str) -> tuple[int, str] | None:
        """Return the snapshot, as `FrameLog.snapshot`."""
        await self._open()
        with self._refusals("read"):
            _, number, packed = await self._get_snapshot(name)
        return (number, await off_loop(len(packed), unpack_text, packed)) if packed else None

    async def _get_snapshot(self, name: str) -> tuple[int, int, bytes]:
        """Return revision, number and text of a snapshot; 0, 0 and nothing where there is none."""
        try:
            entry = await self._bucket.get(self._key("snapshot", name))
        except KeyNotFoundError as error:
            return _revision_of(error), 0, b""
        number, _, packed = (entry.value or b"").partition(b"\n")
        return entry.revision or 0, int(number), packed

    async def _put_snapshot(self, name: str, number: int, packed: bytes) -> bool:
        """Replace a snapshot by a later one; return whether no other worker has done so."""
        revision, known, _ = await self._get_snapshot(name)
        if known >= number:
            return False
        with suppress(KeyWrongLastSequenceError):
            await self._bucket.update(self._key("snapshot", name), packed, last=revision)
            return True
        return False

    async def delete(self, name: str) -> None:
        """Remove everything of `name`."""
        await self._open()
        with self._refusals("delete"):
            for kind in ("snapshot", "lease"):
                with suppress(KeyNotFoundError):
                    await self._bucket.purge(self._key(kind, name))
            await self._js.purge_stream(self._name, subject=self._subject(name))

    async def aclose(self) -> None:
        """Close the connection. Closing twice is allowed."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _open(self) -> None:
        """Connect, and create what is missing."""
        async with self._opening:
            if self._client is not None:
                return
            with self._refusals("connect"):
                client = await nats.connect(self._url, **self._options)
                self._js = client.jetstream(timeout=5)
                await self._create()
            self._client = client

    async def _create(self) -> None:
        # A stream that exists already, perhaps with other settings, is used as it is.
        stream = StreamConfig(
            name=self._name,
            subjects=[f"{self._name}.log.*"],
            storage=StorageType.FILE,
            max_age=self._ttl,
            num_replicas=self._replicas,
        )
        with suppress(BadRequestError):
            await self._js.add_stream(stream)
        try:
            self._bucket = await self._js.key_value(self._name)
        except NotFoundError:
            config = KeyValueConfig(self._name, ttl=self._ttl, replicas=self._replicas, storage=StorageType.FILE)
            self._bucket = await self._js.create_key_value(config)

    async def _lease_state(self, name: str) -> tuple[int, dict[str, Any]]:
        """Return revision and content of the lease's entry, revision 0 where there is none."""
        try:
            entry = await self._bucket.get(self._key("lease", name))
        except KeyNotFoundError as error:
            return _revision_of(error), {"ends": 0, "number": 0, "sequence": 0, "first": 0}
        return entry.revision or 0, read_json((entry.value or b"").decode())

    def _has_ended(self, name: str, revision: int, seconds: float) -> bool:
        """Return whether a lease was seen unchanged for its whole time."""
        known, since = self._seen.get(name, (0, 0.0))
        if known != revision:
            self._seen.put(name, (revision, self._clock()))
            return False
        return self._clock() >= since + seconds

    async def _write_lease(self, name: str, revision: int, state: dict[str, Any]) -> int | None:
        """Write a lease's entry; return its revision, None where another worker has changed it."""
        try:
            return await self._bucket.update(self._key("lease", name), compact_json(state).encode(), last=revision)
        except KeyWrongLastSequenceError:
            return None

    async def _rewrite(self, fence: Fence, held: _Held, seconds: float) -> bool:
        """Write when our lease ends, and what is last; return whether it was ours still."""
        state = {"ends": seconds, "number": held.number, "sequence": held.sequence, "first": held.first}
        revision = await self._write_lease(fence.name, held.revision, {**state, "owner": fence.owner})
        held.revision = revision or 0
        return revision is not None

    async def _find_last(self, name: str, held: _Held) -> None:
        """Set what the last message is: texts are appended without a lease, too."""
        try:
            last = await self._js.get_last_msg(self._name, self._subject(name))
            held.sequence, held.number = last.seq or 0, int((last.headers or {}).get(_NUMBER, 0))
        except NotFoundError:
            held.sequence = 0

    async def _shut_out(self, name: str, held: _Held) -> None:
        """Write an empty message, after which the old holder of the lease cannot append any more."""
        for _ in range(_MAX_CONFLICTS):
            await self._find_last(name, held)
            sequence = await self._publish(name, held.sequence, held.number, "")
            if sequence is not None:
                held.sequence = sequence
                return
        raise LogError(f"expected to be the only writer of {name!r}")

    async def _publish(self, name: str, last: int, number: int, text: str) -> int | None:
        """Write a message after message `last` of its subject; return its number, None where another one is there."""
        headers = {Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(last), _NUMBER: str(number)}
        try:
            done = await self._js.publish(self._subject(name), text.encode(), stream=self._name, headers=headers)
        except APIError as error:
            if error.err_code in _WRONG_LAST:
                return None
            raise
        return done.seq

    def _check(self, fence: Fence) -> _Held:
        held = self._held.get((fence.name, fence.token))
        if held is None or self._clock() >= held.ends:
            raise self._lost(fence)
        return held

    def _lost(self, fence: Fence) -> Fenced:
        self._held.pop((fence.name, fence.token), None)
        return Fenced(fence)

    def _subject(self, name: str) -> str:
        return f"{self._name}.log.{log_token(name)}"

    def _key(self, kind: str, name: str) -> str:
        return f"{kind}.{log_token(name)}"

    @contextmanager
    def _refusals(self, command: str) -> Iterator[None]:
        try:
            yield
        except (nats.errors.Error, OSError, TimeoutError) as error:
            raise LogError(f"expected NATS to {command}, found: {error!r:.200}") from error


def _revision_of(error: KeyNotFoundError) -> int:
    """Return the revision of a deleted entry, 0 where there never was one."""
    entry = getattr(error, "entry", None)
    return getattr(entry, "revision", None) or 0


def log_token(name: str) -> str:
    """Return a name as one word of a subject: subjects hold few characters."""
    return sha256(encode_name(name)).hexdigest()[:40]
