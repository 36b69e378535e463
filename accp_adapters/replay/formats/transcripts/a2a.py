"""A2A: tasks and messages, alone or in JSON-RPC; what the agent says and delivers is the output of a model.

Sources: https://a2a-protocol.org/latest/specification/ (0.3: `kind`, "user", "agent"; 1.0: "ROLE_USER", "ROLE_AGENT").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Item, Part, Snapshot, Step, Turn, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import content_parts, read_turns, turn_of
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_task", "read_task"]

_ROLES: Final = {"user": Role.USER, "agent": Role.AGENT, "ROLE_USER": Role.USER, "ROLE_AGENT": Role.AGENT}


def is_task(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"jsonrpc": _, "result": {**inner}} | {"jsonrpc": _, "params": {"message": {**inner}}}:
            return is_task(inner)
        case {"task": {**inner}}:
            return is_task(inner)
        case {"status": {"state": str()}} if not document.keys().isdisjoint({"contextId", "context_id", "history"}):
            return True
        case {"messageId": str(), "role": _, "parts": [*_]} | {"message_id": str(), "role": _, "parts": [*_]}:
            return True
    return False


def read_task(document: Any, findings: Findings) -> Iterator[Item]:
    """Yield what a document says."""
    match document:
        case {"jsonrpc": _, "result": inner} | {"jsonrpc": _, "params": {"message": inner}} | {"task": inner}:
            yield from read_task(inner, findings)
        case {"status": {**status}}:
            findings.fields(document, ("status", "history", "artifacts"), "an A2A task")
            history = document.get("history") or []
            turns = read_turns(history, _read_message, findings)
            said = status.get("message")
            is_new = bool(said) and said not in history
            last = read_turns([said], _read_message, findings) if is_new else ()
            yield Snapshot(turns=(*turns, *_delivered(document, findings), *last))
        case _:
            group = str(document.get("contextId") or document.get("context_id") or "")
            yield from (Step(turn=turn, group=group) for turn in _read_message(document, findings))


def _delivered(task: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    for artifact in task.get("artifacts") or ():
        yield Turn(role=Role.AGENT, parts=tuple(content_parts(artifact.get("parts"), _read_part, findings)))


def _read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    findings.fields(message, ("parts", "content"), "an A2A message")
    parts = content_parts(message.get("parts") or message.get("content"), _read_part, findings)
    yield from turn_of(message["role"], parts, findings, "an A2A conversation", _ROLES)


def _read_part(part: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    match part:
        case {"text": str(words)}:
            yield text(words)
        case {"data": data} if part.get("kind", "data") == "data":
            yield text(written(data))
        case _:
            findings.block(part.get("kind") or next(iter(part), None), "an A2A message")
            return
    findings.fields(part, ("text", "data", "filename"), "an A2A part")
