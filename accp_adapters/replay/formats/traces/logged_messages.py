"""The prompt and the answer of a logged model call, in whichever provider's or framework's form a tracer kept them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Turn, definitions, text
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.frameworks import langchain, vercel
from accp_adapters.replay.formats.parts import ReadMessage, instructions, read_turns
from accp_adapters.replay.formats.providers import anthropic, bedrock, gemini, openai_chat, openai_responses
from accp_adapters.replay.formats.streams.joining import join_response
from accp_adapters.replay.formats.traces.genai_messages import is_genai_messages, read_genai_message
from accp_adapters.replay.recorded_run import Role

__all__ = ["Prompt", "opened", "read_answer", "read_prompt"]

Prompt = tuple[tuple[Turn, ...], str]
"""The turns of a prompt and its tool definitions."""

_READERS: Final[tuple[tuple[Callable[[object], bool], ReadMessage], ...]] = (
    (langchain.is_message_dump, langchain.read_message),
    (bedrock.is_converse, bedrock.LAYOUT.read_message),
    (anthropic.is_messages, anthropic.read_message),
    (is_genai_messages, read_genai_message),
    (gemini.is_contents, gemini.LAYOUT.read_message),
    (vercel.is_vercel, vercel.LAYOUT.read_message),
    (openai_responses.is_responses, openai_responses.read_item),
    (openai_chat.is_chat, openai_chat.read_chat_message),
)


def opened(value: object) -> Any:
    """Return the JSON value that a text is, or the value as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[", '"')):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def read_prompt(logged: object, findings: Findings, owner: str) -> Prompt:
    """Return the prompt that a record logged: a text, messages, or an object with messages and tools.

    Args:
        logged: The input of the call, perhaps as JSON in a text.
        findings: Collects what is not counted.
        owner: What findings call the record, such as "a Langfuse generation".
    """
    match opened(logged):
        case str(words):
            return (Turn(role=Role.USER, parts=(text(words),)),), ""
        case {"messages": [[*messages], *others]}:
            if others:
                findings.add("prompt", f"beside the first one of {owner}")
            return _read(messages, findings, owner), ""
        case {"messages": [*_]} | {"input": [*_] | str()} as body:
            return _read_request(body, findings, owner)
        case {"contents": [*_]} as body:
            return gemini.LAYOUT.read_request(body, findings)
        case {"prompts": [str(words), *_]} | {"prompt": str(words)}:
            return (Turn(role=Role.USER, parts=(text(words),)),), ""
        case {"role": _} | {"type": _} | {"lc": _} as message:
            return _read([message], findings, owner), ""
        case [[*messages]]:
            return _read(messages, findings, owner), ""
        case [*messages]:
            return _read(messages, findings, owner), ""
        case _:
            findings.add("input", f"of {owner} that is no prompt")
    return (), ""


def _read_request(body: Mapping[str, Any], findings: Findings, owner: str) -> Prompt:
    """Return the prompt of a request: of Anthropic, of OpenAI chat, or of OpenAI Responses."""
    messages = body["messages"] if "messages" in body else body["input"]
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    given = instructions(body.get("instructions") or "")
    if "system" in body:
        given = anthropic.LAYOUT.read_instructions(body, findings)
    return (*given, *_read(messages, findings, owner)), definitions(body.get("tools"), body.get("functions"))


def read_answer(logged: object, findings: Findings, owner: str) -> tuple[Turn, ...]:
    """Return the turns that a record logged as the answer of the model; see `read_prompt`."""
    match join_response(opened(logged), findings):
        case nothing if not nothing and nothing != 0:
            return ()
        case str(words):
            return (Turn(role=Role.AGENT, parts=(text(words),)),)
        case {"choices": [*_]} as body:
            return openai_chat.read_choices(body, findings)
        case {"candidates": [*_]} | {"content": {"parts": [*_]}} as body:
            return gemini.LAYOUT.read_response(body if "candidates" in body else {"candidates": [body]}, findings)
        case {"generations": [[*generations], *_]}:
            return tuple(turn for each in generations for turn in read_answer(each, findings, owner))
        case {"text": str(words)} | {"completion": str(words)} | {"content": str(words)} as body if _is_bare(body):
            return (Turn(role=Role.AGENT, parts=(text(words),)),)
        case {"output": [*items], "object": "response"}:
            return openai_responses.LAYOUT.read_response({"output": items}, findings)
        case {"messages": [*messages]} | [*messages]:
            return _read(messages, findings, owner)
        case {"message": {**message}} | {**message}:
            return _read([message], findings, owner)
        case _:
            findings.add("output", f"of {owner} that is no answer")
    return ()


def _is_bare(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer is words in one field, and no message, which may have calls beside its words."""
    is_generation = str(answer.get("type")).endswith("Generation")
    return answer.keys().isdisjoint({"message", "role"} if is_generation else {"message", "role", "type"})


def _read(messages: list[Any], findings: Findings, owner: str) -> tuple[Turn, ...]:
    """Return the turns of messages in the form that any of them shows."""
    for holds, read_message in _READERS:
        if holds(messages) or any(isinstance(each, Mapping) and holds([each]) for each in messages):
            turns = read_turns(messages, read_message, findings)
            return (
                tuple(openai_responses.LAYOUT.arrange(turns)) if read_message is openai_responses.read_item else turns
            )
    if messages:
        findings.add("message", f"of {owner} in an unknown form")
    return ()
