"""Would a provider take these messages? The rules of three APIs over what LangChain's own formatters send them.

Each rule names what the API answers with status 400 when it is broken. `violations` returns all that are broken,
`check` refuses a transcript with any; the scripted model calls it on every request, so each agent test is checked.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage
from pydantic import SecretStr

__all__ = ["PROVIDERS", "TranscriptError", "check", "payload", "violations"]

Item: TypeAlias = dict[str, Any]

_TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SPEAKER: Final = re.compile(r"[^\s<|\\/>]{1,64}")
_CALL_ID_CHARS: Final = {"openai": 40, "responses": 64}


class TranscriptError(AssertionError):
    """A provider would refuse the messages."""


def check(messages: Sequence[BaseMessage]) -> None:
    """Refuse messages that one of the providers would refuse (TranscriptError names the rules and the payload)."""
    found = violations(messages)
    if found:
        shown = json.dumps([message.model_dump(exclude_defaults=True) for message in messages], default=str)
        raise TranscriptError("\n".join([*found, shown[:4_000]]))


def violations(messages: Sequence[BaseMessage]) -> list[str]:
    """Return what the providers would complain of, each line beginning with the provider's name."""
    return [f"{name}: {broken}" for name in PROVIDERS for broken in _complaints(name, messages)]


def payload(provider: str, messages: Sequence[BaseMessage]) -> Item:
    """Return the request that LangChain's formatter for `provider` makes of `messages`."""
    return _model(provider)._get_request_payload([message.model_copy(deep=True) for message in messages])


def _complaints(provider: str, messages: Sequence[BaseMessage]) -> Iterator[str]:
    try:
        request = payload(provider, messages)
    except (ValueError, TypeError, KeyError) as refusal:
        yield f"the formatter refuses: {refusal!r}"
        return
    for rule in PROVIDERS[provider]:
        yield from rule(request)


@functools.cache
def _model(provider: str) -> Any:
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - thousands of files
    from langchain_openai import ChatOpenAI  # noqa: PLC0415

    key = SecretStr("none")
    if provider == "anthropic":
        return ChatAnthropic(model_name="claude-opus-4-5", api_key=key, timeout=None, stop=None)
    return ChatOpenAI(model="gpt-5", api_key=key, use_responses_api=provider == "responses")


# OpenAI Chat Completions


# "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
# "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
def chat_pairs(request: Item) -> Iterator[str]:
    """Each call is answered once, before anything else is said; each answer belongs to a call."""
    open_calls: list[str] = []
    for message in request["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield f"no call awaits the result of {message['tool_call_id']!r}"
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            yield f"not answered before the next message: {open_calls}"
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    if open_calls:
        yield f"not answered at the end: {open_calls}"


# "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got null instead."
def chat_content(request: Item) -> Iterator[str]:
    """There are messages, and each says something that is of the right type."""
    if not request["messages"]:
        yield "no messages"
    for number, message in enumerate(request["messages"]):
        content = message.get("content")
        silent = content is None or content == []
        if silent and not (message["role"] == "assistant" and message.get("tool_calls")):
            yield f"message {number} ({message['role']}) has the content {content!r}"
        name = message.get("name")
        if name is not None and not _SPEAKER.fullmatch(name):
            yield f"message {number} has the name {name!r}"


def chat_calls(request: Item) -> Iterator[str]:
    """Calls have ids and names that the API takes."""
    for message in request["messages"]:
        calls = message.get("tool_calls") or ()
        yield from _calls([(call["id"], call["function"]["name"]) for call in calls], _CALL_ID_CHARS["openai"])


# OpenAI Responses


# "No tool output found for function call call_x." / "No tool call found for function call output with call_id x."
def responses_pairs(request: Item) -> Iterator[str]:
    """Each call has one output, behind it; each output has a call."""
    called: list[str] = []
    answered: list[str] = []
    for item in request["input"]:
        if item.get("type") == "function_call":
            called.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            answered.append(item["call_id"])
            if item["call_id"] not in called:
                yield f"no call before the output of {item['call_id']!r}"
    yield from _repeated("call", called)
    yield from _repeated("output", answered)
    if missing := [each for each in called if each not in answered]:
        yield f"no output for {missing}"


# "Item 'rs_…' of type 'reasoning' was provided without its required following item."
def responses_reasoning(request: Item) -> Iterator[str]:
    """What was reasoned stands before what the assistant then did."""
    for item, after in pairwise([*request["input"], None]):
        if item.get("type") == "reasoning" and not (after and _by_assistant(after)):
            yield f"nothing follows the reasoning {item.get('id')!r}"


def _by_assistant(item: Item) -> bool:
    return item.get("role") == "assistant" or item.get("type") in {"reasoning", "function_call"}


def responses_content(request: Item) -> Iterator[str]:
    """There are items, and calls have ids and names that the API takes."""
    if not request["input"]:
        yield "no input"
    for number, item in enumerate(request["input"]):
        if item.get("role") and item.get("content") in (None, []):
            yield f"item {number} ({item['role']}) has the content {item.get('content')!r}"
    calls = [item for item in request["input"] if item.get("type") == "function_call"]
    yield from _calls([(call["call_id"], call["name"]) for call in calls], _CALL_ID_CHARS["responses"])


# Anthropic Messages


def _turns(request: Item) -> list[tuple[str, list[Item]]]:
    """Return the turns as the API sees them: "Consecutive user or assistant turns will be combined"."""
    turns: list[tuple[str, list[Item]]] = []
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        if turns and turns[-1][0] == message["role"]:
            turns[-1] = (message["role"], turns[-1][1] + blocks)
        else:
            turns.append((message["role"], blocks))
    return turns


# "messages: first message must use the "user" role"; "messages: at least one message is required".
# "This model does not support assistant message prefill. The conversation must end with a user message."
def anthropic_roles(request: Item) -> Iterator[str]:
    """A user turn begins and ends the conversation."""
    turns = _turns(request)
    if not turns:
        yield "no messages"
        return
    if turns[0][0] != "user":
        yield f"the first turn is the {turns[0][0]}'s"
    if turns[-1][0] != "user":
        yield f"the last turn is the {turns[-1][0]}'s"


# "tool_use ids were found without tool_result blocks immediately after: x. Each tool_use block must have a
# corresponding tool_result block in the next message." / "unexpected tool_use_id found in tool_result blocks: x."
def anthropic_pairs(request: Item) -> Iterator[str]:
    """The turn after calls begins with their results, each once; no other turn has results."""
    turns = _turns(request)
    asked: list[str] = []
    for role, blocks in [*turns, ("user", [])]:
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if Counter(answers) != Counter(asked):
            yield f"the calls {asked} are followed by the results {answers}"
        if any(block["type"] == "tool_result" for block in blocks[len(answers) :]):
            yield f"results stand behind other content: {answers}"
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"] if role == "assistant" else []
    yield from _repeated("tool_use", [block["id"] for _, blocks in turns for block in blocks if "input" in block])


# "messages: text content blocks must be non-empty"; "… must contain non-whitespace text".
def anthropic_content(request: Item) -> Iterator[str]:
    """No turn is empty and no text is blank (the formatter leaves blank blocks out, but no blank text)."""
    for number, (role, blocks) in enumerate(_turns(request)):
        if not blocks:
            yield f"turn {number} ({role}) is empty"
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                yield f"turn {number} ({role}) has the text {block['text']!r}"


# "Expected `thinking` or `redacted_thinking`, but found `tool_use`"; "The final block in an assistant message
# cannot be `thinking`."
def anthropic_thinking(request: Item) -> Iterator[str]:
    """Thinking is signed and ends no turn; while calls are answered, the turn that thought begins with it."""
    for number, (_, blocks) in enumerate(_turns(request)):
        thought = [block["type"] in {"thinking", "redacted_thinking"} for block in blocks]
        if not any(thought):
            continue
        if thought[-1]:
            yield f"turn {number} ends with thinking"
        if not thought[0]:
            yield f"turn {number} thinks, and begins with {blocks[0]['type']!r}"
        if any(block["type"] == "thinking" and not block.get("signature") for block in blocks):
            yield f"turn {number} has thinking without a signature"


def anthropic_calls(request: Item) -> Iterator[str]:
    """Calls have names that the API takes; their ids are made so by the formatter."""
    for _, blocks in _turns(request):
        for block in blocks:
            if block["type"] == "tool_use" and not _TOOL_NAME.fullmatch(block["name"]):
                yield f"call {block['id']!r} has the name {block['name']!r}"


def _calls(calls: Sequence[tuple[str, str]], id_chars: int) -> Iterator[str]:
    yield from _repeated("call", [call_id for call_id, _ in calls])
    for call_id, name in calls:
        if not 0 < len(call_id or "") <= id_chars:
            yield f"a call has the id {call_id!r}, expected 1 to {id_chars} characters"
        if not _TOOL_NAME.fullmatch(name):
            yield f"call {call_id!r} has the name {name!r}"


def _repeated(what: str, ids: Sequence[str]) -> Iterator[str]:
    yield from (f"{what} {each!r} stands {count} times" for each, count in Counter(ids).items() if count > 1)


PROVIDERS: Final[Mapping[str, tuple[Callable[[Item], Iterator[str]], ...]]] = {
    "openai": (chat_pairs, chat_content, chat_calls),
    "responses": (responses_pairs, responses_reasoning, responses_content),
    "anthropic": (anthropic_roles, anthropic_pairs, anthropic_content, anthropic_thinking, anthropic_calls),
}
"""The rules of each provider."""
