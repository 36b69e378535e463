"""Arbitrary A2A objects, and such as look like what we write ourselves."""

from __future__ import annotations

from typing import Any, Final

from a2a.types import Artifact, Message, Part, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent
from google.protobuf.struct_pb2 import ListValue, Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import strategies as st

__all__ = ["events", "json_values", "parts", "tasks"]

TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SPECIAL: Final = st.sampled_from(
    [
        *("", " ", "@", "null", "4326", "4326.0", "true", "accp", "a b", " a", "Done.\nNext line | {x} $y", "_", "%"),
        *(
            "@agent>done:task{d:hi}[mid:0123456789ab,seq:1]",
            "@user>req:task{d:hi}",
            "é中文 \u2028",
            "&1 x",
            "*1",
            "[3]:",
        ),
    ]
)
TEXTS: Final = st.one_of(TEXT, SPECIAL, st.text('@>:{}[]|$,~\\"=_% \n', max_size=20))
IDS: Final = st.one_of(st.uuids().map(str), TEXTS, st.sampled_from(["t", "c", "0123456789ab"]))
NUMBERS: Final = st.one_of(
    st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([-0.0, 1e22, 1e300])
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
ROWS: Final = st.lists(st.fixed_dictionaries({"id": NUMBERS, "name": TEXTS, "open": st.booleans()}), max_size=12)


def to_value(value: Any) -> Value:
    """Return the protobuf value of a JSON value, written apart from the adapter's own."""
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, (int, float)):
        return Value(number_value=value)
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, list):
        return Value(list_value=ListValue(values=[to_value(item) for item in value]))
    if isinstance(value, dict):
        return Value(struct_value=to_struct(value))
    return Value(null_value=0)  # type: ignore[arg-type]  # the one number that this enumeration has


def to_struct(value: dict[str, Any]) -> Struct:
    """Return the struct of a JSON object."""
    return Struct(fields={key: to_value(member) for key, member in value.items()})


OUTSIDE_JSON: Final = st.sampled_from([Value(), Value(number_value=float("nan")), Value(number_value=float("inf"))])
VALUES: Final = st.one_of(json_values.map(to_value), ROWS.map(to_value), OUTSIDE_JSON)
METADATA: Final = st.one_of(
    st.none(),
    st.dictionaries(st.one_of(st.just("accp"), TEXTS), json_values, max_size=3).map(to_struct),
    st.sampled_from([{"accp": True}, {"accp": False}, {"accp": {"was": {"was": 1}}}]).map(to_struct),
)
CONTENTS: Final = st.one_of(
    TEXTS.map(lambda text: {"text": text}),
    VALUES.map(lambda value: {"data": value}),
    st.binary(max_size=20).map(lambda raw: {"raw": raw}),
    TEXTS.map(lambda url: {"url": url}),
    st.just({}),
)
MEDIA_TYPES: Final = st.sampled_from(["", "", "text/plain", "application/json", "application/accp"])
parts: st.SearchStrategy[Part] = st.builds(
    lambda content, **more: Part(**content, **more),
    CONTENTS,
    metadata=METADATA,
    filename=st.sampled_from(["", "a.csv"]),
    media_type=MEDIA_TYPES,
)
EXTENSIONS: Final = st.lists(TEXTS, max_size=2)


def messages(ids: st.SearchStrategy[str] = IDS) -> st.SearchStrategy[Message]:
    """Return messages that may be of the same task as what they stand in."""
    return st.builds(
        Message,
        message_id=IDS,
        context_id=ids,
        task_id=ids,
        role=st.sampled_from([0, 1, 2, 7]),
        parts=st.lists(parts, max_size=3),
        metadata=METADATA,
        extensions=EXTENSIONS,
        reference_task_ids=EXTENSIONS,
    )


NEAR: Final = st.sampled_from(["", "t", "c", " ", " t", "other"])
STATUSES: Final = st.builds(
    TaskStatus,
    state=st.sampled_from([*range(9), 42]),
    message=st.one_of(st.none(), messages(NEAR)),
    timestamp=st.one_of(
        st.none(), st.builds(Timestamp, seconds=st.integers(0, 2**31), nanos=st.integers(0, 10**9 - 1))
    ),
)
ARTIFACTS: Final = st.builds(
    Artifact,
    artifact_id=IDS,
    name=TEXTS,
    description=TEXTS,
    parts=st.lists(parts, max_size=3),
    metadata=METADATA,
    extensions=EXTENSIONS,
)
OWNERS: Final = st.sampled_from(["t", "c", "", " "])
tasks: st.SearchStrategy[Task] = st.builds(
    Task,
    id=st.one_of(OWNERS, IDS),
    context_id=st.one_of(OWNERS, IDS),
    status=st.one_of(st.none(), STATUSES),
    artifacts=st.lists(ARTIFACTS, max_size=3),
    history=st.lists(messages(NEAR), max_size=3),
    metadata=METADATA,
)
events: st.SearchStrategy[Any] = st.one_of(
    tasks,
    messages(),
    st.builds(TaskStatusUpdateEvent, task_id=OWNERS, context_id=OWNERS, status=STATUSES, metadata=METADATA),
    st.builds(
        TaskArtifactUpdateEvent,
        task_id=OWNERS,
        context_id=OWNERS,
        artifact=ARTIFACTS,
        append=st.booleans(),
        last_chunk=st.booleans(),
        metadata=METADATA,
    ),
)
