"""Claude Code: the transcripts under `~/.claude/projects`, one record a line.

A record holds a message in Anthropic's form; the records of one response have its id. Instructions and tool definitions
are not recorded. After a compaction the model is sent the summary and nothing before it.
Sources: https://code.claude.com/docs/en/hooks (`transcript_path`) and kvsankar/agent-history, docs/claude-format.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Step, Turn
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.providers.anthropic import read_message

__all__ = ["is_record", "read_record"]

_SILENT: Final = frozenset(
    [
        "system",
        "summary",
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "custom-title",
        "agent-name",
        "last-prompt",
        "ai-title",
        "pr-link",
        "permission-mode",
        "agent-setting",
    ]
)
"""Types of records that no model is sent."""


def is_record(document: Any) -> bool:
    """Return whether a document is a line of a transcript."""
    match document:
        case {"type": "user" | "assistant", "message": {"role": _}, "uuid": str()}:
            return True
        case {"type": "summary", "summary": str(), "leafUuid": _} | {"type": "file-history-snapshot"}:
            return True
        case {"type": str(), "sessionId": str()}:
            return True
    return False


def read_record(document: Mapping[str, Any], findings: Findings) -> Iterator[Step]:
    """Yield the turns in one record; a side chain is a run of its own."""
    kind = document["type"]
    if kind not in ("user", "assistant"):
        is_silent = kind in _SILENT
        findings.add("record", f"of type {kind!r} of Claude Code", left_out=is_silent)
        return
    message = document["message"]
    side = str(document.get("agentId") or "side chain") if document.get("isSidechain") else ""
    turns = [] if document.get("isApiErrorMessage") else list(read_message(message, findings))
    for turn in turns:
        yield Step(
            turn=Turn(role=turn.role, parts=turn.parts, agent=side if kind == "assistant" else ""),
            group=f"{document.get('sessionId', '')} {side}",
            response=str(message.get("id") or "") if kind == "assistant" else "",
            restarts=bool(document.get("isCompactSummary")),
            awaits_answer=True,
        )
