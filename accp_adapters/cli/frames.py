"""ACCP frames as JSON objects, and the warnings about a frame that parses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from accp_core.accp import REMOVED, Envelope, Frame, Intent, LiteralKey, Ref, parse_frame, serialize_frame
from accp_core.errors import DecodeError, ProtocolError

__all__ = ["frame_from_json", "frame_to_json", "warnings"]

_REF: Final = "$ref"
_REMOVED: Final = {"$removed": True}
_TABLE_4_MID: Final = re.compile(r"[0-9a-f]{12}")
_ABNF_CHARACTERS: Final = re.compile(r"[^!-~]")
_KEY_ESCAPE: Final = re.compile(r"_x([0-9a-f]{1,6})_(.*)", re.DOTALL)


def frame_to_json(frame: Frame) -> dict[str, Any]:
    """Return `frame` as a JSON object; a reference is `{"$ref": key}`, a removed member `{"$removed": true}`.

    The key of a parameter that is not an abbreviation, though it looks like one, keeps its escape of the wire.
    """
    known = {name: value for name, value in asdict(frame.envelope).items() if value not in (None, {})}
    return {
        "sender": frame.sender,
        "intent": frame.intent.value,
        "operation": frame.operation,
        "params": {_key_to_json(key): _value_to_json(value) for key, value in frame.params.items()},
        "envelope": known,
    }


def frame_from_json(value: Mapping[str, Any]) -> Frame:
    """Return the frame of a JSON object; the inverse of `frame_to_json`.

    Raises:
        KeyError, TypeError, ValueError: a member is missing, unknown or of another type.
    """
    return Frame(
        sender=value["sender"],
        intent=Intent(value["intent"]),
        operation=value["operation"],
        params={_key_from_json(key): _value_from_json(item) for key, item in value.get("params", {}).items()},
        envelope=Envelope(**value.get("envelope", {})),
    )


def warnings(text: str, frame: Frame) -> Iterator[tuple[int, str]]:
    """Yield the column, from 1, and the reason of each warning about `text`, which parses as `frame`."""
    yield from _spelling(text, frame)
    envelope = frame.envelope
    block = text.rfind("[") + 1 if text.endswith("]") else len(text)
    for name, value in (("mid", envelope.msg_id), ("seq", envelope.sequence)):
        if value is None:
            yield block or 1, f"a receiving session rejects a frame without {name} (section 3.5)"
    if envelope.msg_id is not None and not _TABLE_4_MID.fullmatch(envelope.msg_id):
        yield text.rfind("mid:") + 5, f"mid {envelope.msg_id!r} is not 12 hex digits (Table 4)"
    for name in envelope.extra:
        yield text.rfind(f"{name}:") + 1, f"field {name!r} is not in Table 4"


def _spelling(text: str, frame: Frame) -> Iterator[tuple[int, str]]:
    try:
        parse_frame(text, strict=True)
    except DecodeError as error:
        yield error.position + 1, f"allowed only by a known erratum of the draft: {_reason(error)}"
    if outside := _ABNF_CHARACTERS.search(text):
        yield outside.start() + 1, f"{outside.group()!r} is not a character of the draft's grammar (use --ascii)"
    try:
        canonical = serialize_frame(frame)
    except ProtocolError:
        return
    if text not in (canonical, serialize_frame(frame, ascii_only=True)):
        yield _first_difference(text, canonical) + 1, f"not the canonical spelling: {canonical}"


def _reason(error: DecodeError) -> str:
    return error.reason.removesuffix(f", at position {error.position}")


def _first_difference(text: str, other: str) -> int:
    pairs = enumerate(zip(text, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(text), len(other)))


def _key_to_json(key: str) -> str:
    # The escape of the wire, for these keys and for those that would look like one.
    escaped = isinstance(key, LiteralKey) or key.startswith("_x")
    return f"_x{ord(key[0]):x}_{key[1:]}" if escaped else key


def _key_from_json(key: str) -> str:
    escape = _KEY_ESCAPE.fullmatch(key)
    if escape is None:
        return key
    named = chr(int(escape[1], 16)) + escape[2]
    return named if named.startswith("_x") else LiteralKey(named)


def _value_to_json(value: object) -> object:
    if isinstance(value, Ref):
        return {_REF: value.key}
    if value is REMOVED:
        return dict(_REMOVED)
    if isinstance(value, Mapping):
        return {key: _value_to_json(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_value_to_json(item) for item in value]
    return value


def _value_from_json(value: Any) -> Any:
    if value == _REMOVED:
        return REMOVED
    if isinstance(value, dict):
        return (
            Ref(value[_REF]) if value.keys() == {_REF} else {key: _value_from_json(item) for key, item in value.items()}
        )
    if isinstance(value, list):
        return [_value_from_json(item) for item in value]
    return value
