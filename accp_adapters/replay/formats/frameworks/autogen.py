"""AutoGen: the messages of a team (`TaskResult`), and the model contexts that its agents and teams save.

Sources: https://microsoft.github.io/autogen/stable/reference/python/autogen_agentchat.messages.html,
https://microsoft.github.io/autogen/stable/reference/python/autogen_core.models.html and
https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/state.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import (
    Item,
    Part,
    Request,
    Snapshot,
    Step,
    Turn,
    call,
    result,
    text,
    written,
)
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import content_parts, read_turns
from accp_adapters.replay.formats.traces.logged_messages import read_answer, read_prompt
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_autogen", "read_autogen"]

_OWNER: Final = "an AutoGen message"
_CALL: Final = "an AutoGen model call"
_USERS: Final = ("user", "user_proxy", "human")
_MESSAGE: Final = ("content", "thought", "source", "context", "tool_calls", "results", "format_string")
"""Fields that are read, or repeat what is."""
_TEXTS: Final = ("TextMessage", "StopMessage", "HandoffMessage", "MultiModalMessage", "StructuredMessage")
_SILENT: Final = ("UserInputRequestedEvent", "ModelClientStreamingChunkEvent", "SelectSpeakerEvent", "SelectorEvent")


def is_autogen(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"agent_states": {}} | {"llm_context": {"messages": [*_]}} | {"type": "LLMCall", "messages": [*_]}:
            return True
        case {"messages": [first, *_]} | [first, *_]:
            return _reader_of(first) is not None
    return _reader_of(document) is not None


def read_autogen(document: Any, findings: Findings) -> Iterator[Item]:
    """Yield what a document says: a conversation of a team, the context of each agent, or a logged model call."""
    match document:
        case {"agent_states": {}}:
            findings.fields(document, ("agent_states",), "an AutoGen team")
            for name, state in document["agent_states"].items():
                yield from _read_state(name, state.get("agent_state", state), findings)
        case {"type": "LLMCall"}:
            prompt, tools = read_prompt(document, findings, _CALL)
            yield Request(prompt=prompt, output=read_answer(document.get("response"), findings, _CALL), tools=tools)
        case {"llm_context": _}:
            yield from _read_state("agent", document, findings)
        case {"messages": [*messages]}:
            findings.fields(document, ("messages", "stop_reason"), "an AutoGen result")
            yield Snapshot(turns=read_turns(messages, _read_message, findings))
        case [*messages]:
            yield Snapshot(turns=read_turns(messages, _read_message, findings))
        case _:
            yield from (Step(turn=turn) for turn in _read_message(document, findings))


def _read_state(name: str, state: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    match state:
        case {"llm_context": {"messages": [*messages]}}:
            yield Snapshot(turns=read_turns(messages, _read_message, findings))
        case _:
            findings.add("state", f"of {name!r}, which has no model context", left_out=True)


def _reader_of(message: object) -> Callable[[Mapping[str, Any], Findings], Iterator[Turn]] | None:
    match message:
        case {"type": str(kind), "content": _}:
            return _READERS.get(kind)
    return None


def _read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    findings.fields(message, _MESSAGE, _OWNER)
    read = _reader_of(message)
    if read is not None:
        yield from read(message, findings)
    elif message.get("type") in _SILENT:
        findings.add("event", f"of type {message['type']!r} of AutoGen", left_out=True)
    else:
        findings.role(message.get("type"), "an AutoGen conversation")


def _words(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    source = message.get("source") or ""
    is_user = message["type"] == "UserMessage" or source.lower() in _USERS
    content = message["content"]
    if isinstance(content, Mapping):
        content = written(content)
    parts = tuple(content_parts(content, _read_block, findings))
    # In an agent's own context, what other agents said is a user's message with their name.
    yield Turn(role=Role.USER if is_user else Role.AGENT, parts=parts, agent="" if source in _USERS else source)


def _instructions(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    yield Turn(role=Role.INSTRUCTIONS, parts=(text(message["content"]),))


def _asked(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    content, agent = message["content"], message.get("source") or ""
    # What a model says beside its calls is their thought, which is sent again; that of words alone is not.
    thought = message.get("thought")
    asked = [content] if isinstance(content, str) else [*filter(None, [thought]), *content]
    if thought and isinstance(content, str):
        findings.thoughts("thought", _OWNER)
    parts = (text(each) if isinstance(each, str) else _call(each) for each in asked)
    yield Turn(role=Role.AGENT, parts=tuple(parts), agent=agent)


def _call(asked: Mapping[str, Any]) -> Part:
    return call(asked["name"], asked["arguments"], asked["id"])


def _answered(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    parts = (result(each["content"], each.get("call_id"), each.get("name")) for each in message["content"])
    yield Turn(role=Role.TOOL, parts=tuple(parts))


def _summary(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    """Yield the results of tools that an agent passed on as its answer, without a model call."""
    yield Turn(role=Role.AGENT, parts=(text(message["content"]),), agent=message.get("source") or "", by_model=False)


def _thought(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    findings.thoughts("ThoughtEvent", _OWNER)
    yield from ()


def _read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    findings.block(block.get("type", "image"), _OWNER)
    yield from ()


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any], Findings], Iterator[Turn]]]] = {
    **dict.fromkeys((*_TEXTS, "UserMessage"), _words),
    "SystemMessage": _instructions,
    "AssistantMessage": _asked,
    "ToolCallRequestEvent": _asked,
    "ToolCallExecutionEvent": _answered,
    "FunctionExecutionResultMessage": _answered,
    "ToolCallSummaryMessage": _summary,
    "ThoughtEvent": _thought,
}
