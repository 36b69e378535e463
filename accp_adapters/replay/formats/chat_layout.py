"""The containers in which a provider's messages are logged: a list, a request, a request with its response."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Item, Request, Snapshot, Step, Turn
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import ReadMessage, read_turns

__all__ = ["ChatLayout", "exchange_of", "request_of"]

_STEERING: Final = frozenset(
    [
        "anthropic_version",
        "max_completion_tokens",
        "max_tokens",
        "model",
        "reasoning_effort",
        "seed",
        "stop",
        "stream",
        "temperature",
        "thinking",
        "tool_choice",
        "top_p",
    ]
)
"""Fields that requests have and conversations do not."""
_ANSWERS: Final = frozenset(
    ["choices", "content", "candidates", "promptFeedback", "prompt_feedback", "output", "error"]
)
"""Fields of a response that may hold no words."""
_IDS: Final = ("custom_id", "request_id", "id")
"""Fields that tell a request from another one that says the same."""


def _no_turns(body: Mapping[str, Any], findings: Findings) -> tuple[Turn, ...]:
    return ()


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
    read_instructions: Callable[[Mapping[str, Any], Findings], tuple[Turn, ...]] = _no_turns
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
        return Request(prompt=prompt, output=output, tools=tools, identity=_identity(document, request))

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


def _identity(document: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """Return what tells that two records are of one request: its id with all that it says; empty where it has no id."""
    ids = [str(place[name]) for place in (document, request) for name in _IDS if place.get(name)]
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
