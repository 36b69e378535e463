"""LangChain messages, the state of a LangGraph thread, and the SQLite file of LangGraph's `SqliteSaver`.

Of a dump nothing is loaded as an object: it names classes and secrets, and only the fields of messages are read.

Sources: `langchain_core.messages`, `langchain_core.load.dump`, `langgraph.checkpoint.sqlite` and
https://docs.langchain.com/langsmith/agent-server-api (thread state).
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accp_adapters.replay.formats import conversation
from accp_adapters.replay.recorded_run import Findings, Role, UnreadableRun
from accp_adapters.serving.limits import weight_of

__all__ = [
    "SQLITE", "StoredCheckpoint", "is_message", "is_message_dump", "read_langchain",
    "read_message", "read_sqlite", "read_threads", "state_items",
]  # fmt: skip


_OWNER: Final = "a LangChain message"
_CHUNK: Final = "MessageChunk"
"""How the type of a message that was streamed ends: `AIMessageChunk`."""
_MESSAGE: Final = (
    "content", "name", "tool_calls", "invalid_tool_calls", "additional_kwargs", "artifact", "tool_call_chunks",
)  # fmt: skip
_ADDITIONAL: Final = frozenset((
    "tool_calls", "function_call", "refusal", "parsed", "reasoning", "reasoning_content", "thought_signatures",
    "__gemini_function_call_thought_signatures__",
))  # fmt: skip
_COPIES: Final = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta", "custom_tool_call")
"""Blocks that repeat `tool_calls`."""
_THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
_STATE: Final = ("values", "checkpoint", "parent_checkpoint", "parent_config", "config", "tasks", "interrupts")


def is_message(message: Any) -> bool:
    """Return whether a value is one message of LangChain."""
    match message:
        case {"type": str(), "data": {"content": _}}:
            return True
        case {"lc": int(), "type": "constructor", "id": [*_, str(name)], "kwargs": {**fields}}:
            return "Message" in name and "content" in fields
        case {"type": str(kind), "content": _}:
            return (
                kind.removesuffix(_CHUNK).lower() in conversation.ROLES
                and "role" not in message
                and "source" not in message
            )
    return False


def is_message_dump(document: Any) -> bool:
    """Return whether a document is in this format: messages, or a state or a list of states that hold them."""
    match document:
        case [{"values": _}, *_]:
            return any(map(is_message_dump, document))
        case [first, *_]:
            return is_message(first)
        case {"values": {**values}}:
            return any(isinstance(value, list) and is_message_dump(value) for value in values.values())
        case {"messages": [first, *_]}:
            return is_message(first)
    return is_message(document)


def read_langchain(document: Any, findings: Findings) -> Iterator[conversation.Item]:
    """Yield what a document says."""
    match document:
        case [{"values": _}, *_]:
            # A thread's history begins with its newest state.
            for state in sorted(document, key=lambda state: str(state.get("created_at") or "")):
                yield from read_langchain(state, findings)
        case [*_]:
            yield conversation.Snapshot(turns=conversation.read_turns(document, read_message, findings))
        case {"values": {}}:
            findings.fields(document, _STATE, "a LangGraph state")
            yield from state_items(document["values"], findings)
        case {"messages": [*_]}:
            yield from state_items(document, findings)
        case _:
            yield from (conversation.Step(turn=turn) for turn in read_message(document, findings))


def state_items(values: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Item]:
    """Yield the conversation of each channel of a state that holds messages; other channels are no prompts."""
    for name, value in values.items():
        if isinstance(value, list) and value and is_message(value[0]):
            yield conversation.Snapshot(
                turns=conversation.read_turns(value, read_message, findings),
                tools=conversation.definitions(values.get("tools")),
            )
        elif name not in ("messages", "tools"):
            findings.add("channel", f"{name!r} of a LangGraph state", left_out=True)


def read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    """Yield the turn in one message.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    fields = message["data"] if "data" in message else message.get("kwargs", message)
    kind = message["type"] if "data" in message else fields.get("type") or str(message.get("id", [""])[-1])
    kind = kind.removesuffix("Chunk").removesuffix("Message").lower()
    findings.fields(fields, _MESSAGE, _OWNER)
    findings.fields(fields.get("additional_kwargs") or {}, _ADDITIONAL, "the additional_kwargs of a message")
    role = conversation.ROLES.get(fields.get("role", "") if kind == "chat" else kind)
    if role is None:
        findings.role(kind, "a LangChain conversation")
    elif role is Role.TOOL:
        if fields.get("artifact"):
            findings.add("artifact", "of a tool message", left_out=True)
        answer = conversation.result_text(fields["content"], _read_block, findings)
        yield conversation.Turn(
            role=role, parts=(conversation.result(answer, fields.get("tool_call_id"), fields.get("name")),)
        )
    else:
        calls = list(_calls(fields)) if role is Role.AGENT else []
        words = _words(fields, {part.call_id for part in calls}, findings)
        yield conversation.Turn(
            role=role, parts=(*words, *calls) or (conversation.text(""),), agent=fields.get("name") or ""
        )


def _words(fields: Mapping[str, Any], call_ids: set[str], findings: Findings) -> list[conversation.Part]:
    """Return the words of a message, joined as a provider joins them, and calls that are in its content only."""
    additional = fields.get("additional_kwargs") or {}
    if additional.get("reasoning_content") or additional.get("reasoning"):
        findings.thoughts("reasoning_content", _OWNER)
    parts = list(conversation.content_parts(fields["content"], _read_block, findings))
    lines = [part.text for part in parts if not part.call_id and not part.tool]
    lines.append(additional.get("refusal") or "")
    joined = "\n".join(filter(None, lines))
    asked = [part for part in parts if part.tool and part.call_id not in call_ids]
    return [*([conversation.text(joined)] if joined else []), *asked]


def _calls(fields: Mapping[str, Any]) -> Iterator[conversation.Part]:
    for asked in (*(fields.get("tool_calls") or ()), *(fields.get("invalid_tool_calls") or ())):
        # LangChain holds arguments as a value; models write them as compact JSON.
        yield conversation.call(asked["name"] or "", asked["args"], asked.get("id"))
    if fields.get("tool_calls") or fields.get("invalid_tool_calls"):
        return
    additional = fields.get("additional_kwargs") or {}
    for asked in additional.get("tool_calls") or ():
        yield conversation.call(asked["function"]["name"], asked["function"]["arguments"], asked.get("id"))
    if function := additional.get("function_call"):
        yield conversation.call(function["name"], function["arguments"])


def _read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    kind = block.get("type")
    match block:
        case {"type": "text" | "output_text" | "input_text", "text": str(words)}:
            yield conversation.text(words)
        case {"text": str(words)} if kind is None:
            yield conversation.text(words)
        case {"type": "tool_result", "content": content}:
            yield conversation.result(
                conversation.result_text(content, _read_block, findings), block.get("tool_use_id"), "tool"
            )
        case {"type": str(), "name": str(tool)} if kind in _COPIES or kind in ("server_tool_use", "server_tool_call"):
            arguments = block.get("input", block.get("args", block.get("arguments")))
            yield conversation.call(tool, arguments, block.get("call_id") or block.get("id") or "call")
        case {"type": "input_json_delta"}:
            return
        case {"type": "json", "json": value}:
            yield conversation.result(value)
        case _ if kind in _THOUGHTS:
            findings.thoughts(kind, _OWNER)
        case _:
            findings.block(kind, _OWNER)


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


def read_threads(checkpoints: Iterable[StoredCheckpoint], findings: Findings) -> Iterator[conversation.Item]:
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


_LAST: Final = """
    SELECT thread_id, checkpoint_ns, type, checkpoint, length(checkpoint) FROM checkpoints AS one
    WHERE checkpoint_id = (
        SELECT max(checkpoint_id) FROM checkpoints AS other
        WHERE other.thread_id = one.thread_id AND other.checkpoint_ns = one.checkpoint_ns)
    AND length(checkpoint) <= ?
    ORDER BY thread_id, checkpoint_ns
"""


def read_sqlite(path: str, limit: int, *, patience: float = 5.0) -> Iterator[StoredCheckpoint]:
    """Yield the last checkpoint of each thread and namespace.

    Args:
        path: The file.
        limit: Bytes that one checkpoint may take.
        patience: Seconds to wait for a writer that has locked the file.

    Raises:
        UnreadableRun: the file holds no checkpoints, a larger one, or one that is not read.
    """
    try:
        with _opened(path, patience) as database:
            _check(database, path, limit)
            for thread, namespace, kind, content, _ in database.execute(_LAST, (limit,)):
                values, written = _values(kind, content)
                yield StoredCheckpoint(thread=thread, namespace=namespace, values=values, written=written)
    except (sqlite3.Error, ValueError) as error:
        if isinstance(error, UnreadableRun):
            raise
        raise UnreadableRun(f"expected checkpoints of LangGraph: {error}", path=path) from error


def _check(database: sqlite3.Connection, path: str, limit: int) -> None:
    # A view or a virtual table of this name could compute for ever.
    kinds = database.execute("SELECT type, sql FROM sqlite_master WHERE name = 'checkpoints'").fetchall()
    if [kind for kind, sql in kinds if kind == "table" and "VIRTUAL" not in sql.upper()] != ["table"]:
        raise UnreadableRun("expected the table 'checkpoints' of LangGraph's SqliteSaver, found none", path=path)
    (largest,) = database.execute("SELECT max(length(checkpoint)) FROM checkpoints").fetchone()
    if largest is not None and largest > limit:
        raise UnreadableRun(f"expected checkpoints of at most {limit:,} bytes, found one of {largest:,}", path=path)


@contextmanager
def _opened(path: str, patience: float) -> Iterator[sqlite3.Connection]:
    """Open a file that another process may write to; a write-ahead log is read from a copy of both.

    `mode=ro` would make a file beside a database in WAL mode, and `immutable=1` does not look at the log
    (https://www.sqlite.org/wal.html, "Read-Only Databases"). The schema of a hostile file calls nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:
            path, *_ = (shutil.copy(each, folder) for each in (path, log))
        address = f"{Path(path).resolve().as_uri()}?immutable={int(not log.exists())}"
        with closing(sqlite3.connect(address, uri=True, timeout=patience)) as database:
            database.execute("PRAGMA query_only = ON")
            database.execute("PRAGMA trusted_schema = OFF")
            yield database


def _memory_of(content: bytes) -> int:
    """Return about the bytes of memory that msgpack takes once it is read: each of its bytes may be an item."""
    above = content.translate(None, bytes(range(128)))
    return 9 * len(content) + 32 * (len(above) + len(above.translate(None, bytes(range(160, 256)))))


def _values(kind: str, content: bytes) -> tuple[dict[str, Any], str]:
    """Return the channels of a checkpoint, with messages as plain data, and when it was written.

    Raises:
        ValueError: it cannot be read without running code of others, such as a pickle.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    size = weight_of(content.decode("latin-1")) if kind == "json" else _memory_of(content)
    if size > conversation.MAX_MEMORY:
        raise ValueError(
            f"expected checkpoints of at most {conversation.MAX_MEMORY:,} bytes of memory, found about {size:,}"
        )
    try:
        # With None only the types that LangGraph knows as safe are made; others stay names.
        value = JsonPlusSerializer(allowed_msgpack_modules=None).loads_typed((kind, content))
    except Exception as error:
        raise ValueError(f"expected msgpack or JSON that LangGraph reads, found {kind!r}: {error}") from error
    values = value.get("channel_values") if isinstance(value, dict) else None
    if not isinstance(values, dict):
        raise ValueError("found one without 'channel_values'")
    return {name: _plain(channel) for name, channel in values.items()}, str(value.get("ts") or "")


def _plain(channel: object) -> object:
    """Return what a channel holds, each of its messages as a mapping."""
    if not isinstance(channel, list):
        return channel
    return [each.model_dump() if hasattr(each, "model_dump") else each for each in channel]
