"""Codex: the rollouts under `~/.codex/sessions`, one record a line.

A record of type `response_item` holds an item of OpenAI Responses; `event_msg` repeats it for the interface.
Sources: `codex-rs/protocol/src/protocol.rs` (`RolloutItem`) of openai/codex and kvsankar/agent-history,
docs/codex-format.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Step, Turn, call, definitions, text
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import instructions
from accp_adapters.replay.formats.providers.openai_responses import read_item
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_record", "read_record"]

_TYPES: Final = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


def is_record(document: Any) -> bool:
    """Return whether a document is a line of a rollout."""
    match document:
        case {"type": str(kind), "payload": {}}:
            return kind in _TYPES
    return False


def read_record(document: Mapping[str, Any], findings: Findings) -> Iterator[Step]:
    """Yield the turns in one record."""
    payload = document["payload"]
    match document["type"]:
        case "session_meta":
            given = payload.get("base_instructions") or payload.get("instructions") or ""
            words = given.get("text") or "" if isinstance(given, Mapping) else given
            yield Step(tools=definitions(payload.get("dynamic_tools")))
            yield from (Step(turn=turn) for turn in instructions(words))
        case "response_item":
            yield from (Step(turn=turn, joined=True, awaits_answer=True) for turn in _item(payload, findings))
        case "compacted":
            yield from _compacted(payload, findings)
        case kind:
            # What the interface showed, and settings.
            findings.add("record", f"of type {kind!r} of Codex", left_out=True)


def _item(item: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    match item:
        case {"type": "local_shell_call", "action": action}:
            yield Turn(role=Role.AGENT, parts=(call("local_shell", action, item.get("call_id") or item.get("id")),))
        case {"type": "ghost_snapshot"}:
            findings.add("item", "of type 'ghost_snapshot' of Codex", left_out=True)
        case _:
            yield from read_item(item, findings)


def _compacted(payload: Mapping[str, Any], findings: Findings) -> Iterator[Step]:
    """Yield what the model is sent in place of everything before."""
    yield Step(restarts=True)
    history = payload.get("replacement_history")
    if isinstance(history, list):
        yield from (Step(turn=turn, joined=True) for item in history for turn in _item(item, findings))
    else:
        findings.add("compaction", "of Codex whose new history is not recorded; its summary is counted")
        yield Step(turn=Turn(role=Role.USER, parts=(text(str(payload.get("message") or "")),)))
