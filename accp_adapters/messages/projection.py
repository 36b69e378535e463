"""`project_messages`: the same messages with results as views and previews, and what opens the references in them."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

from accp_adapters.fetching import FETCH_NAME, open_and_answer, read_request
from accp_adapters.messages import anthropic, openai_chat, openai_responses
from accp_adapters.messages.placed import MessageItem, Placed, json_call
from accp_adapters.policy import Policy, is_disabled
from accp_core.errors import ProtocolError
from accp_core.projection import CallRecord, Projected, ProjectionRules, PromptProjector
from accp_core.references import find_references, key_of, match_keys, open_reference

__all__ = ["Layout", "LayoutModule", "Projection", "check_messages", "find_layout", "module_of", "project_messages"]


# The layouts of messages, and which of them a conversation has.


class Layout(StrEnum):
    """A provider's layout of messages."""

    OPENAI_CHAT = "openai-chat"
    """The `messages` of OpenAI's Chat Completions, which most servers take."""
    OPENAI_RESPONSES = "openai-responses"
    """The `input` of OpenAI's Responses."""
    ANTHROPIC = "anthropic"
    """The `messages` of Anthropic's Messages."""
    LANGCHAIN = "langchain"
    """Messages of LangChain, which are objects."""


class LayoutModule(Protocol):
    """What the module of each layout has."""

    def read_messages(self, messages: Sequence[Any]) -> Iterator[Placed]:
        """Yield the records of the messages with the places of their texts."""
        ...

    def with_projected(
        self, messages: Sequence[Any], placed: Sequence[Placed], projected: Sequence[Projected]
    ) -> list[Any]:
        """Return the messages as the model is sent them; what does not change is the object that was given."""
        ...

    def fetch_tool(self) -> dict[str, Any]:
        """Return the definition of the fetch tool."""
        ...

    def read_call(self, call: MessageItem) -> CallRecord:
        """Return the record of a tool call."""
        ...

    def answer_message(self, call_id: str | None, text: str, *, failed: bool) -> Any:
        """Return the message that answers a tool call."""
        ...


_LAYOUTS: Final[Mapping[Layout, LayoutModule]] = MappingProxyType(
    {Layout.OPENAI_CHAT: openai_chat, Layout.OPENAI_RESPONSES: openai_responses, Layout.ANTHROPIC: anthropic}
)
"""The module of each layout of JSON; that of LangChain's needs its library."""

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})
"""Types of content blocks that only Anthropic's messages have."""
_NAMES: Final = ("role", "type", "name", "tool_call_id", "call_id", "tool_use_id")
"""Who wrote a message or a part of it, and which call it answers: texts."""


def module_of(layout: Layout) -> LayoutModule:
    """Return the module of a layout."""
    if layout is Layout.LANGCHAIN:
        return cast(LayoutModule, import_module("accp_adapters.messages.langchain"))
    return _LAYOUTS[layout]


def find_layout(messages: Sequence[Any]) -> Layout:
    """Return the layout that messages have; where they fit several, the result is the same in each.

    Raises:
        ValueError: one is no JSON object with a role or a type, and not all are LangChain's; it names its index.
    """
    if messages and all(map(_is_of_langchain, messages)):
        return Layout.LANGCHAIN
    check_messages(messages)
    if any("role" not in message or message.get("type") == "message" for message in messages):
        return Layout.OPENAI_RESPONSES
    contents = [message.get("content") for message in messages]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    is_anthropic = any(isinstance(block, Mapping) and block.get("type") in _BLOCKS for block in blocks)
    return Layout.ANTHROPIC if is_anthropic else Layout.OPENAI_CHAT


def check_messages(messages: Sequence[Any]) -> None:
    """Refuse what no layout of JSON has.

    Raises:
        ValueError: a message is no JSON object with a role or a type, or one of its ids or names is no text.
    """
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping) or not ("role" in message or "type" in message):
            raise ValueError(f"expected messages with a role or a type, found {message!r:.80} at index {index}")
        parts = message.get("content")
        for item in (message, *(parts if isinstance(parts, list) else ())):
            _check_names(item, index)


def _check_names(item: Any, index: int) -> None:
    for name in _NAMES:
        value = item.get(name) if isinstance(item, Mapping) else None
        if value is not None and not isinstance(value, str):
            raise ValueError(f"expected {name!r} to be a text, found {value!r:.80} at index {index}")


def _is_of_langchain(message: Any) -> bool:
    # A caller with such a message has imported its library; other callers may not have it.
    langchain = sys.modules.get("langchain_core.messages")
    return langchain is not None and isinstance(message, langchain.BaseMessage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What a model is sent of a conversation."""

    messages: list[Any]
    """The messages to send; those that did not change are the objects that were given."""
    layout: Layout
    """Their layout."""
    tools: list[dict[str, Any]]
    """What to add at the end of the tools of the request: the fetch tool where a reference is shown, else nothing."""
    tokens_before: int
    """Tokens of the texts that changed, as they were; of a very long text an estimate."""
    tokens_after: int
    """Tokens of their new texts."""
    stored: dict[str, str]
    """The texts behind the references that it shows, by key; `open` needs no store, as the conversation has them."""
    _policy: Policy = field(repr=False)
    _records: Sequence[Placed] = field(repr=False)

    def open(self, call: MessageItem) -> Any | None:
        """Return the message that answers a call of the fetch tool; None: it is a call of another tool.

        A reference opens if its text stands in the conversation. What cannot be answered is answered with an error that
        the model reads, never raised.

        Args:
            call: The call as the model wrote it, in the layout of the messages: an entry of `tool_calls`, an item
                `function_call`, a block `tool_use`, an entry of `AIMessage.tool_calls`.
        """
        layout = module_of(self.layout)
        asked = layout.read_call(call)
        if asked.name != FETCH_NAME:
            return None
        try:
            return layout.answer_message(asked.id, self._answer(asked.args), failed=False)
        except ProtocolError as refusal:
            return layout.answer_message(asked.id, str(refusal), failed=True)

    def answer(self, arguments: Mapping[str, Any] | str) -> str:
        """Return the answer to a call of the fetch tool as text, for a framework that makes the message; never raises.

        Args:
            arguments: The arguments of the call, or their JSON.
        """
        try:
            return self._answer(json_call(None, FETCH_NAME, arguments).args)
        except ProtocolError as refusal:
            return str(refusal)

    def cited_by(self, words: str) -> list[str]:
        """Return the texts of the conversation that the references in `words` open, for who is given the words.

        Put them behind the words, each as a further text of the same message or result: there they are shown as any
        result is, under the same references. What is not of this conversation is not in the list.
        """
        return _cited(words, self._texts())

    def _answer(self, arguments: Mapping[str, Any]) -> str:
        request = replace(read_request(dict(arguments)), verbatim=frozenset(self._verbatim()))
        texts = {key_of(text): text for text in self._texts()}
        open_text = partial(open_reference, granted=texts, read=texts.get)
        return open_and_answer(request, open_text, limit=self._policy.fetch_limit, counter=self._policy.counter)

    def _verbatim(self) -> Iterator[str]:
        """Yield the keys of the texts of files that were shown as they are."""
        records, forms = [placed.record for placed in self._records], self._policy.rules.tools
        tools = {call.id: call.name for record in records for call in record.calls}
        for record in records:
            if record.call_id and forms.find(tools.get(record.call_id) or record.name or "") == "verbatim":
                yield from map(key_of, filter(None, record.blocks))

    def _texts(self) -> Iterator[str]:
        for placed in self._records:
            yield from placed.record.texts


def _cited(words: str, texts: Iterable[str]) -> list[str]:
    cited = find_references(words)
    found = {key_of(text): text for text in texts} if cited else {}
    return [found[key] for key in dict.fromkeys(match_keys(cited, found).values())]


def project_messages(
    messages: Sequence[Any],
    *,
    policy: Policy | str | None = None,
    layout: Layout | str | None = None,
    agent: str | None = None,
) -> Projection:
    """Return what a model is sent of a conversation: views, previews, repeat markers, other agents' words.

    A pure function: the same messages and policy give the same bytes, in any process, and what was sent is a prefix of
    what is sent later, so that the provider's prompt cache stays valid. Ids, pairing, `cache_control`, images, thinking
    and errors that are no longer than the limit of a result stay as they are. No text gets longer, but for one that
    imitates our markers. `ACCP_DISABLED=1` in the environment switches it off: the messages come back as they are.

    Args:
        messages: The conversation from its first message on, as JSON or as LangChain's messages. They are not changed.
        policy: None: the defaults. `argument_limit` is used for LangChain's messages only.
        layout: The layout of the messages; None: found from them.
        agent: The name of the agent whose model it is; None: it has none.

    Raises:
        ValueError: there is no such layout, or `ACCP_DISABLED` is neither yes nor no, or a message is no JSON object
            with a role or a type, or one of its names or ids is no text; it names the index of the message.
    """
    chosen = Policy.of(policy)
    messages = list(messages)
    found = find_layout(messages) if layout is None else Layout(layout)
    if found is not Layout.LANGCHAIN:
        check_messages(messages)
        chosen = replace(chosen, argument_limit=None)
    module = module_of(found)
    records = list(module.read_messages(messages))
    is_off = is_disabled()
    prompt = _projector_of(chosen).project(() if is_off else (placed.record for placed in records), agent=agent)
    return Projection(
        messages=messages if is_off else module.with_projected(messages, records, prompt.messages),
        layout=found,
        tools=[module.fetch_tool()] if prompt.offers_tool else [],
        tokens_before=sum(shown.tokens_before for shown in prompt.messages),
        tokens_after=sum(shown.tokens_after for shown in prompt.messages),
        stored={each.key: each.text for shown in prompt.messages for each in shown.stored},
        _policy=chosen,
        _records=records,
    )


_MAX_POLICIES: Final = 4
"""Policies whose conversations are remembered, each within the bound of `PromptProjector`."""
_projectors: Final[deque[tuple[ProjectionRules, PromptProjector]]] = deque(maxlen=_MAX_POLICIES)


def _projector_of(policy: Policy) -> PromptProjector:
    """Return the projector of a policy, which remembers conversations: a further call costs work for what is new."""
    rules = policy.rules
    known = next((projector for each, projector in list(_projectors) if each == rules), None)
    if known is None:
        known = PromptProjector(rules)
        _projectors.append((rules, known))
    return known
