"""The conversations in the last checkpoints of some threads, whichever database keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Item
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.frameworks.langchain import state_items

__all__ = ["SQLITE", "StoredCheckpoint", "read_threads"]

SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of a SQLite file."""
_INTERNAL: Final = ("__", "branch:", "start:")
"""How the names of the channels begin that LangGraph keeps for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    """The last checkpoint of one graph or subgraph of a thread."""

    thread: str
    """The id of the thread."""
    namespace: str
    """Empty for the graph itself, else the path of the subgraph."""
    values: Mapping[str, Any]
    """The name of each channel to its value, as plain data."""
    written: str = ""
    """When it was written, in ISO 8601; empty: not recorded."""


def read_threads(checkpoints: Iterable[StoredCheckpoint], findings: Findings) -> Iterator[Item]:
    """Yield the conversation of each checkpoint; one of a subgraph that its graph has, too, is left out.

    Args:
        checkpoints: Those of one thread together, its graph before its subgraphs.
        findings: Collects what is not counted.
    """
    thread, seen = None, set[str]()
    for checkpoint in checkpoints:
        if checkpoint.thread != thread:
            thread, seen = checkpoint.thread, set()
        ids = _answers(checkpoint.values)
        if checkpoint.namespace and ids and ids <= seen:
            findings.add("subgraph", "whose messages its graph has, too", left_out=True)
            continue
        seen |= ids
        channels = {name: value for name, value in checkpoint.values.items() if not name.startswith(_INTERNAL)}
        items = list(state_items(channels, findings))
        if not items:
            findings.add("checkpoint", "without messages, or with messages that are kept as changes")
        yield from items


def _answers(values: Mapping[str, Any]) -> set[str]:
    """Return the ids of the messages of models."""
    messages = (each for value in values.values() if isinstance(value, list) for each in value)
    return {str(m["id"]) for m in messages if isinstance(m, Mapping) and m.get("type") == "ai" and m.get("id")}
