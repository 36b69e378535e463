"""Any A2A object survives its frames, and any frames in one are decoded or refused with a code."""

from collections.abc import Sequence
from typing import Any, Final

from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from google.protobuf.json_format import Error, Parse
from google.protobuf.message import DecodeError as BinaryError

from accp_adapters.a2a import decode, encode, frames_to_task, task_to_frames
from accp_adapters.a2a import frames as frames_module
from accp_adapters.a2a.frames import has_flag
from accp_adapters.a2a.view import task_view
from accp_adapters.a2a.walk import walk
from accp_core import serialize_frame
from accp_core.accp.frame import MEDIA_TYPE
from accp_core.errors import EncodeError, ProtocolError
from tests.harness.fuzz.choices import choose
from tests.harness.fuzz.view import count

__all__ = ["check", "check_all", "prepare"]

KINDS: Final[tuple[Any, ...]] = (Task, Message, TaskArtifactUpdateEvent, TaskStatusUpdateEvent)
CODES: Final = {"E1001", "E1002", "E1003", "E1004", "E2001", "E2003", "E3002", "E3003", "E4002", "E5001"}


def prepare() -> None:
    """Count what is sent in a hundredth of the time, in a process that does nothing else."""
    frames_module.o200k_base = lambda: count  # type: ignore[attr-defined]  # a name that it imports


def check(data: bytes) -> None:
    """Check the invariant for one input, as a peer or as a gateway sends it."""
    check_with(data, (choose(data, (True, False)),))


def check_all(data: bytes) -> None:
    """Check the invariant for one input, as a peer and as a gateway sends it."""
    check_with(data, (True, False))


def check_with(data: bytes, never_larger: Sequence[bool]) -> None:
    """Check the invariant for one input: an object as JSON or protobuf, or the lines of frames."""
    choice, rest = data[0] if data else 0, data[1:]
    if rest.startswith(b"@"):
        return check_frames(rest.decode("utf-8", "surrogateescape").split("\n"))
    event = KINDS[choice % len(KINDS)]()
    try:
        event.ParseFromString(rest) if choice & 4 else Parse(rest, event, max_recursion_depth=40)
    except (Error, BinaryError, ValueError, RecursionError):
        return None
    return check_event(event, never_larger)


def check_event(event: Any, settings: Sequence[bool]) -> None:
    """Check one object, as a peer sent it and as we send it."""
    before = event.SerializeToString(deterministic=True)
    for never_larger in settings:
        framed = encode(event, never_larger=never_larger)
        has_frames = has_flag(event) or any(part.media_type == MEDIA_TYPE for part, _ in walk(event))
        assert has_frames or decode(framed).SerializeToString(deterministic=True) == before
    decode(event)
    assert event.SerializeToString(deterministic=True) == before
    if isinstance(event, Task):
        check_task(event)


def check_task(task: Task) -> None:
    """Check that a task survives its frames, or has none."""
    try:
        frames = task_to_frames(task)
    except EncodeError as refusal:
        assert refusal.code in {"E1001", "E1004"}, refusal
    else:
        assert frames_to_task([serialize_frame(frame) for frame in frames]) == task
    assert isinstance(task_view(task).text, str)


def check_frames(lines: list[str]) -> None:
    """Check that frames are a task or are refused."""
    try:
        task = frames_to_task(lines)
    except ProtocolError as refusal:
        assert refusal.code in CODES, refusal
    else:
        assert isinstance(task, Task)
