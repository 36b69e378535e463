"""The Vercel AI SDK: model messages (`role`, `content`) and messages of its user interface (`role`, `parts`).

Sources: https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message and
https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message; `packages/ai/src/ui/ui-messages.ts` of vercel/ai.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.chat_layout import ChatLayout, request_of
from accp_adapters.replay.formats.conversation import Kind, Part, Turn, call, definitions, result, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import ROLES, content_parts, has_block, instructions, require_mapping
from accp_adapters.replay.recorded_run import Role

__all__ = ["LAYOUT", "is_vercel"]

_OWNER: Final = "a Vercel AI message"
_BLOCKS: Final = ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")
_SILENT: Final = ("step-start", "source-url", "source-document", "source")
_DONE: Final = ("output-available", "output-error", "output-denied")


def is_vercel(document: Any) -> bool:
    """Return whether a document is in this format."""
    body = request_of(document)
    messages = body.get("messages", document if isinstance(document, list) else [document])
    return has_block(messages, _BLOCKS) or (isinstance(messages, list) and any(map(_has_parts, messages)))


def _has_parts(message: Any) -> bool:
    match message:
        case {"role": "system" | "user" | "assistant", "parts": [{"type": str(), **rest}, *_]}:
            return "kind" not in message and "content" not in rest
    return False


def _read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    findings.fields(message, ("content", "parts", "experimental_output"), _OWNER)
    role = ROLES.get(message["role"])
    if role is None:
        findings.role(message["role"], "a Vercel AI conversation")
    elif "parts" in message:
        yield from _steps(role, message["parts"], findings)
    else:
        yield Turn(role=role, parts=tuple(content_parts(message["content"], _read_block, findings)))


def _steps(role: Role, parts: Iterable[Any], findings: Findings) -> Iterator[Turn]:
    """Yield the turns in a message of the interface, which holds several model calls and the results between them."""
    spoken: list[Part] = []
    results: list[Part] = []
    for written_part in parts:
        block = require_mapping(written_part, "a part")
        for part in _read_ui_part(block, findings):
            # Calls of one step stand beside each other, each with its result; words after a result are the next call's.
            if results and part.kind is Kind.TEXT:
                yield from _step(role, spoken, results)
                spoken, results = [], []
            (results if part.kind is Kind.RESULT else spoken).append(part)
        if results and block.get("type") == "step-start":
            yield from _step(role, spoken, results)
            spoken, results = [], []
    if spoken or results:
        yield from _step(role, spoken, results)


def _step(role: Role, spoken: list[Part], results: list[Part]) -> Iterator[Turn]:
    yield Turn(role=role, parts=tuple(spoken))
    if results:
        yield Turn(role=Role.TOOL, parts=tuple(results))


def _read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    match block:
        case {"type": "text", "text": str(words)}:
            yield text(words)
        case {"type": "tool-call", "toolName": str(tool)}:
            yield call(tool, block.get("input", block.get("args")), block.get("toolCallId"))
        case {"type": "tool-result", "toolName": str(tool)}:
            answer = _output(block.get("output", block.get("result")), findings)
            yield result(answer, block.get("toolCallId"), tool)
        case {"type": "reasoning"}:
            findings.thoughts("reasoning", _OWNER)
        case _:
            findings.block(block.get("type"), _OWNER)


def _read_ui_part(part: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    kind = str(part.get("type"))
    if kind.startswith("tool-") or kind == "dynamic-tool":
        tool = part.get("toolName") or kind.removeprefix("tool-")
        yield call(tool, part.get("input"), part.get("toolCallId"))
        if part.get("state") in _DONE:
            yield result(part.get("output", part.get("errorText")), part.get("toolCallId"), tool)
    elif kind not in _SILENT:
        yield from _read_block(part, findings)


def _output(output: object, findings: Findings) -> str:
    match output:
        case {"type": "text" | "json" | "error-text" | "error-json", "value": value}:
            return written(value)
        case {"type": "content", "value": [*blocks]}:
            return "\n".join(part.text for part in content_parts(blocks, _read_block, findings))
    return written(output)


LAYOUT: Final = ChatLayout(
    owner="Vercel AI",
    fields=frozenset({"system", "tools", "toolChoice", "maxOutputTokens"}),
    read_message=_read_message,
    read_response=lambda body, findings: tuple(_read_message(body, findings)) if "role" in body else (),
    read_instructions=lambda body, findings: instructions(body.get("system") or ""),
    read_tools=lambda body: definitions(body.get("tools")),
)
