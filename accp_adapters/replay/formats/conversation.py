"""What every format is read into, and what the readers share.

A record is a conversation so far (`Snapshot`), one model call (`Request`) or one more turn (`Step`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from accp_adapters.replay.recorded_run import Findings, Role
from accp_core.strict_json import compact_json

__all__ = [
    "MAX_MEMORY", "MAX_MESSAGES", "ROLES", "ChatLayout", "Item", "Kind", "Part", "ReadBlock", "ReadMessage", "Request",
    "Snapshot", "Step", "Turn", "call", "content_parts", "definitions", "exchange_of", "instructions", "read_turns",
    "request_of", "require_mapping", "result", "result_text", "text", "turn_of", "written",
]  # fmt: skip


MAX_MEMORY: Final = 512 << 20
"""About the bytes of memory that one record takes at most: values and wide characters take far more than its text."""
MAX_MESSAGES: Final = 5_000
"""Messages of one run; a longer one is a finding: each of its calls was sent all messages before it."""


class Kind(StrEnum):
    """What a part of a turn is."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One text of a turn."""

    kind: Kind
    """What it is."""
    text: str
    """The words, the arguments of the call, or the result."""
    tool: str = ""
    """The tool that is called or answers; empty: found by the call's id."""
    call_id: str = ""
    """The id of the call that it makes or answers; empty: not recorded."""

    def __post_init__(self) -> None:
        """Refuse a record that has something else where a text belongs (TypeError)."""
        _require_texts(self.text, self.tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one participant of a conversation says at a time."""

    role: Role
    """Who says it."""
    parts: tuple[Part, ...]
    """What is said, in order."""
    agent: str = ""
    """The name of the participant; empty: not recorded."""
    by_model: bool = True
    """Whether a model wrote the words of an agent."""

    def __post_init__(self) -> None:
        """Refuse a record that has something else where a name belongs (TypeError)."""
        _require_texts(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A conversation so far; each turn of a model is a call that was sent all earlier turns."""

    turns: tuple[Turn, ...]
    """All turns, in order."""
    tools: str = ""
    """The definitions that every call was sent, see `definitions`."""
    awaits_answer: bool = False
    """Whether it is a request, so that a last turn that is not the model's is a call without its answer."""
    identity: str = ""
    """What only records of the same request have in common: all that it says, with its id; empty: it has no id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model call as it was recorded."""

    prompt: tuple[Turn, ...]
    """What the model was sent."""
    output: tuple[Turn, ...]
    """What it answered; empty: not recorded."""
    tools: str = ""
    """The definitions that it was sent, see `definitions`."""
    group: str = ""
    """What the calls of one run have in common, such as a trace id; empty: found from their prompts."""
    agent: str = ""
    """The name of the agent; empty: not recorded."""
    started: str = ""
    """When the call began, by which the calls of a group are put in order; empty: they are in order."""
    identity: str = ""
    """See `Snapshot`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What comes next in a conversation that is recorded turn by turn."""

    turn: Turn | None = None
    """The turn; None: the record says something else."""
    group: str = ""
    """What the turns of one conversation have in common; empty: they are in one file."""
    response: str = ""
    """The id of the model call that produced the turn; empty: not recorded."""
    joined: bool = False
    """Whether turns of one model that follow each other are one call."""
    tools: str = ""
    """The definitions that calls were sent from here on; empty: as before."""
    once: bool = False
    """Whether a turn that the conversation has already is not said again, such as instructions kept with each turn."""
    restarts: bool = False
    """Whether later calls are sent nothing of what was said before."""
    awaits_answer: bool = False
    """Whether a result at the end is sent to the model, though its answer is not recorded."""


Item: TypeAlias = Snapshot | Request | Step
"""What a record says."""


def _require_texts(*values: object) -> None:
    wrong = next((value for value in values if not isinstance(value, str)), None)
    if wrong is not None or None in values:
        raise TypeError(f"expected a text, found {wrong!r:.60}")


def text(words: str) -> Part:
    """Return the part that is words."""
    return Part(kind=Kind.TEXT, text=words)


def call(tool: str, arguments: object, call_id: object = "") -> Part:
    """Return the part that calls a tool; arguments that are no text are written as compact JSON."""
    return Part(kind=Kind.CALL, text=written(arguments), tool=tool, call_id=str(call_id or ""))


def result(content: object, call_id: object = "", tool: object = "") -> Part:
    """Return the part that answers a call; content that is no text is written as compact JSON."""
    return Part(kind=Kind.RESULT, text=written(content), tool=str(tool or ""), call_id=str(call_id or ""))


def written(value: object) -> str:
    """Return a value as a model is sent it: a text as it is, nothing as nothing, any other value as compact JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return compact_json(value)
    except (TypeError, ValueError):
        # What Python's own writer lets through, such as NaN.
        return json.dumps(value, ensure_ascii=False)


def definitions(*values: object) -> str:
    """Return tool definitions and output schemas as compact JSON, one a line; empty ones are left out."""
    return "\n".join(written(value) for value in values if value)


ReadMessage = Callable[[Mapping[str, Any], Findings], Iterable[Turn]]
"""Returns the turns in one message."""
ReadBlock = Callable[[Mapping[str, Any], Findings], Iterable[Part]]
"""Returns the parts in one block of a message's content."""


ROLES: Final[Mapping[str, Role]] = {
    "system": Role.INSTRUCTIONS,
    "developer": Role.INSTRUCTIONS,
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.AGENT,
    "ai": Role.AGENT,
    "model": Role.AGENT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
"""Roles as OpenAI, LangChain and Gemini call them, and most others."""


def turn_of(
    role: object, parts: Iterable[Part], findings: Findings, owner: str, roles: Mapping[str, Role] = ROLES
) -> Iterator[Turn]:
    """Yield the turn that a message is; none where `role` is no key of `roles`, which is a finding of `owner`."""
    known = roles.get(role) if isinstance(role, str) else None
    if known is None:
        findings.role(role, owner)
    else:
        yield Turn(role=known, parts=tuple(parts))


def read_turns(messages: object, read_message: ReadMessage, findings: Findings) -> tuple[Turn, ...]:
    """Return the turns in a list of messages.

    Raises:
        TypeError: it is no list of objects.
        ValueError: it has too many for a run.
    """
    if not isinstance(messages, list):
        raise TypeError(f"expected a list of messages, found {messages!r:.60}")
    if len(messages) > MAX_MESSAGES:
        raise ValueError(f"expected at most {MAX_MESSAGES:,} messages in a run, found {len(messages):,}")
    return tuple(turn for message in messages for turn in read_message(require_mapping(message, "a message"), findings))


def content_parts(content: object, read_block: ReadBlock, findings: Findings) -> Iterator[Part]:
    """Yield the parts of a message's content: nothing, a text, a block or a list of texts and blocks.

    Raises:
        TypeError: the content is something else.
    """
    match content:
        case None | "":
            return
        case str(words):
            yield text(words)
        case Mapping():
            yield from read_block(content, findings)
        case [*blocks]:
            for block in blocks:
                if isinstance(block, str):
                    yield text(block)
                else:
                    yield from read_block(require_mapping(block, "a block of content"), findings)
        case _:
            raise TypeError(f"expected content as text or as a list of blocks, found {content!r:.60}")


def result_text(content: object, read_block: ReadBlock, findings: Findings) -> str:
    """Return the text of a tool result whose content may be a list of blocks."""
    return "\n".join(part.text for part in content_parts(content, read_block, findings) if part.text)


def instructions(words: str) -> tuple[Turn, ...]:
    """Return the turn of instructions outside of the messages; none where there are no words."""
    return (Turn(role=Role.INSTRUCTIONS, parts=(text(words),)),) if words else ()


def require_mapping(value: object, what: str) -> Mapping[str, Any]:
    """Return `value`; TypeError: it is no JSON object."""
    if not isinstance(value, Mapping):
        raise TypeError(f"expected {what} as a JSON object, found {value!r:.60}")
    return value


_STEERING: Final = frozenset((
    "anthropic_version", "max_completion_tokens", "max_tokens", "model", "reasoning_effort", "seed", "stop",
    "stream", "temperature", "thinking", "tool_choice", "top_p",
))  # fmt: skip
"""Fields that requests have and conversations do not."""
_ANSWERS: Final = frozenset(
    ["choices", "content", "candidates", "promptFeedback", "prompt_feedback", "output", "error"]
)
"""Fields of a response that may hold no words."""
_IDS: Final = ("custom_id", "request_id", "id")
"""Fields that tell a request from another one that says the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLayout:
    """How one provider writes requests and responses."""

    owner: str
    """What findings call it, such as "Anthropic"."""
    messages: str = "messages"
    """The field of a request that has the messages."""
    fields: frozenset[str]
    """Fields of a request that are read, beside `messages`."""
    read_message: ReadMessage
    """Returns the turns in one message."""
    read_response: Callable[[Mapping[str, Any], Findings], tuple[Turn, ...]]
    """Returns the turns in the body of a response."""
    read_instructions: Callable[[Mapping[str, Any], Findings], tuple[Turn, ...]] = lambda _body, _findings: ()
    """Returns the instructions that a request has beside the messages."""
    read_tools: Callable[[Mapping[str, Any]], str]
    """Returns the definitions of a request."""
    requests_only: bool = False
    """Whether only requests have the field `messages`; else an object with that field alone is a conversation."""
    arrange: Callable[[Iterable[Turn]], Iterable[Turn]] = iter
    """Returns the turns of a list of messages as they belong together."""

    def read(self, document: Any, findings: Findings) -> Iterator[Item]:
        """Yield what a document says: messages, a request, a request and its response, or one message."""
        exchange = exchange_of(document)
        if isinstance(document, list):
            yield Snapshot(turns=read_turns(document, self.read_message, findings))
        elif exchange is not None:
            yield self._read_exchange(document, *exchange, findings)
        elif self.messages in (body := request_of(document)):
            turns, tools = self.read_request(body, findings)
            awaits = body is not document or self._is_request(body)
            yield Snapshot(turns=turns, tools=tools, awaits_answer=awaits, identity=_identity(document, body))
        else:
            yield from (Step(turn=turn) for turn in self.read_message(document, findings))

    def _is_request(self, body: Mapping[str, Any]) -> bool:
        """Return whether an object with messages has a request's settings; the model may be in the URL."""
        return self.requests_only or not body.keys().isdisjoint(_STEERING | self.fields)

    def _read_exchange(
        self, document: Mapping[str, Any], request: Mapping[str, Any], response: object, findings: Findings
    ) -> Request:
        findings.fields(document, ("request", "response"), f"an {self.owner} exchange")
        prompt, tools = self.read_request(request, findings)
        output = self._read_output(response, findings)
        return Request(prompt=prompt, output=output, tools=tools, identity=_identity(document, request, response))

    def _read_output(self, response: object, findings: Findings) -> tuple[Turn, ...]:
        if isinstance(response, Mapping):
            before = findings.total
            output = self.read_response(response, findings)
            if output or not response or findings.total > before or not _ANSWERS.isdisjoint(response):
                return output
        elif not response:
            return ()
        findings.add("response", f"of an {self.owner} exchange in another layout")
        return ()

    def read_request(self, body: Mapping[str, Any], findings: Findings) -> tuple[tuple[Turn, ...], str]:
        """Return the turns of a request, its instructions first, and its tool definitions."""
        findings.fields(body, self.fields | {self.messages}, f"an {self.owner} request")
        turns = read_turns(body[self.messages], self.read_message, findings)
        return (*self.read_instructions(body, findings), *self.arrange(turns)), self.read_tools(body)


def request_of(document: Any) -> Mapping[str, Any]:
    """Return the request in a document that is one, or a line of a batch; an empty object for any other."""
    if not isinstance(document, Mapping):
        return {}
    inner = (document.get(name) for name in ("body", "params") if "custom_id" in document)
    return next((body for body in inner if isinstance(body, Mapping)), document)


def exchange_of(document: Any) -> tuple[Mapping[str, Any], object] | None:
    """Return the bodies of request and response in a document that has both; None for any other document."""
    match document:
        case {"request": request, "response": response}:
            body = _body(request)
            return (body, _body(response)) if isinstance(body, Mapping) else None
    return None


def _identity(document: Mapping[str, Any], request: Mapping[str, Any], response: object = None) -> str:
    """Return what tells that two records are of one request: its id with all that it says; empty where it has no id."""
    places = [place for place in (document, request, response) if isinstance(place, Mapping)]
    ids = [str(place[name]) for place in places for name in _IDS if place.get(name)]
    said = {name: value for name, value in request.items() if name not in _IDS}
    if not ids:
        return ""
    whole = json.dumps([ids[0], said], sort_keys=True, default=str)
    return hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()


def _body(message: Any) -> Any:
    """Return the body of an HTTP message, or the message itself where it has no body of its own."""
    body = message.get("body", message) if isinstance(message, Mapping) else message
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except ValueError:
        return body
