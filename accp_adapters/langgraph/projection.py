"""What one model reads of its conversation: nothing twice, and of other agents' long words a preview.

The messages in the state stay as they are. The reading is a function of the messages and of what stands before each,
so a sent prefix never changes, a trimmed or folded history never holds a reference to what is gone, and other agents
read their own words in full.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Final, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.config import get_config

from accp_adapters.langgraph.marks import MARK
from accp_adapters.langgraph.messages import compact_content, texts_of, with_texts
from accp_adapters.langgraph.policy import Policy
from accp_core.cold import cold_key
from accp_core.ports import TokenCounter
from accp_core.projection import Repeats, Shortened
from accp_core.projection.cache_cost import Prompt, worth_it

__all__ = ["Reading", "agent_name", "is_said_by_another", "prompt_of", "read", "said"]

_Message = TypeVar("_Message", bound=BaseMessage)

_NOTHING: Final = Prompt()
_CHARACTERS_A_TOKEN: Final = 4
"""An estimate for what no provider has counted: only whether a saving is worth it depends on it."""


def agent_name() -> str | None:
    """Return the name of the agent that runs, None where it has none or nothing runs."""
    try:
        name = get_config().get("metadata", {}).get("lc_agent_name")
    except RuntimeError:
        return None
    return str(name) if name else None


def is_said_by_another(message: BaseMessage, agent: str | None, names: Collection[str] = ()) -> bool:
    """Tell whether another agent than `agent` wrote `message`: LangChain notes the name of an agent that has one.

    `names` are those of agents whose words come as HumanMessages.
    """
    if not message.name or message.name == agent:
        return False
    return isinstance(message, AIMessage) or (isinstance(message, HumanMessage) and message.name in names)


def said(key: str, messages: Iterable[BaseMessage], session_id: str) -> str | None:
    """Return the words of an agent in `messages` that a reading refers to as `key`; None when there are none.

    The state itself keeps them: what stands in it whole needs no second place.
    """
    words = (text for message in messages if message.name and (text := _words(message)))
    return next((text for text in words if cold_key(session_id, text) == key), None)


def read(
    messages: Sequence[_Message],
    policy: Policy,
    session_id: str,
    *,
    agent: str | None = None,
    instructions: str = "",
) -> list[_Message]:
    """Return `messages` as the model of `agent` is to read them, for a model call: `Reading`, all at once."""
    reading = Reading(policy, session_id, agent=agent, tokens=len(instructions) // _CHARACTERS_A_TOKEN)
    return [reading.show(message) for message in messages]


class Reading:
    """One model's prompt, message by message from the first one on."""

    def __init__(self, policy: Policy, session_id: str, *, agent: str | None = None, tokens: int = 0) -> None:
        """Read as `agent`, None where it has no name.

        Args:
            policy: What may be rewritten.
            session_id: Whose keys the references are.
            agent: The name under which LangChain notes this agent's own messages.
            tokens: About how many stand before the first message: instructions and tools.
        """
        self._policy: Final = policy
        self._session_id: Final = session_id
        self._agent: Final = agent
        self._repeats: Final = Repeats()
        self.prompt = Prompt(tokens=tokens)
        """What the model has before it now."""
        self._request = ""

    def show(self, message: _Message) -> _Message:
        """Return the next message as the model is to read it; the same object where nothing changes."""
        small = self._compact(message)
        shown, texts = self._shorten(small)
        self._note(shown, texts)
        return shown

    def _compact(self, message: _Message) -> _Message:
        """Return another agent's words as a view or a preview, where they are plain text."""
        if not self._is_words_of_another(message):
            return message
        # Nothing is stored: `said` finds the words in the state.
        compacted = _compacted if isinstance(self._policy.counter, Hashable) else _compacted.__wrapped__
        small = compacted(_words(message), self._policy, self._session_id, self._request, self.prompt)
        if not (mark := small.additional_kwargs):
            return message
        kwargs = {**message.additional_kwargs, **mark}
        # What the provider counted belongs to the words as they were.
        usage = {"usage_metadata": None} if isinstance(message, AIMessage) else {}
        return message.model_copy(update={"content": small.content, "additional_kwargs": kwargs, **usage})

    def _shorten(self, message: _Message) -> tuple[_Message, list[Shortened]]:
        """Return the message without what stands above it, and its texts."""
        texts = texts_of(message)
        whole = [Shortened(text=text, references=()) for text in texts if text]
        if not self._policy.repeats or not self._may_shorten(message):
            return message, whole
        counter = _remembering(self._policy.counter)
        short = [self._repeats.shorten(text, counter=counter) if text else None for text in texts]
        if not any(part.references for part in short if part):
            return message, whole
        before = sum(counter(text) for text in texts if text)
        after = sum(counter(part.text) for part in short if part)
        if self._policy.cache_aware and not worth_it(before, after, self.prompt):
            return message, whole
        return with_texts(message, [part.text if part else None for part in short]), [part for part in short if part]

    def _may_shorten(self, message: BaseMessage) -> bool:
        if isinstance(message, ToolMessage):
            return message.status != "error" and message.name not in self._policy.exclude_tools
        return self._is_words_of_another(message)

    def _is_words_of_another(self, message: BaseMessage) -> bool:
        names = self._policy.agent_names
        return self._policy.other_agents and is_said_by_another(message, self._agent, names) and bool(_words(message))

    def _note(self, message: BaseMessage, texts: Iterable[Shortened]) -> None:
        for text in texts:
            self._repeats.add(text.text, text.references)
        if isinstance(message, HumanMessage) and not self._is_words_of_another(message):
            self._request = message.text
        self.prompt = prompt_of([message], self._agent, before=self.prompt)


def prompt_of(messages: Iterable[BaseMessage], agent: str | None = None, *, before: Prompt = _NOTHING) -> Prompt:
    """Return what the model of `agent` has before it when `messages` have come after what it had `before`."""
    tokens, references = before.tokens, before.references
    for message in messages:
        tokens = _counted(message, agent) or tokens + _estimate(message)
        references = references or bool(message.additional_kwargs.get(MARK, {}).get("refs"))
    return Prompt(tokens=tokens, references=references)


def _words(message: BaseMessage) -> str:
    """Return the text of a message that is nothing but text; content blocks (thinking, images) must stay together."""
    return message.content if isinstance(message.content, str) else ""


def _counted(message: BaseMessage, agent: str | None) -> int:
    """Return what the provider counted up to and with the agent's own `message`, 0 where it said nothing."""
    if not isinstance(message, AIMessage) or is_said_by_another(message, agent):
        return 0
    usage = message.usage_metadata
    return usage["input_tokens"] + usage["output_tokens"] if usage else 0


def _estimate(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    return (len(message.text) + sum(len(str(call["args"])) for call in calls)) // _CHARACTERS_A_TOKEN


# The same messages are read again before each model call; what they come to is remembered, never needed.


@functools.lru_cache(maxsize=64)
def _compacted(text: str, policy: Policy, session_id: str, request: str, prompt: Prompt) -> AIMessage:
    return compact_content(AIMessage(text), policy, session_id, request=request, prompt=prompt)[0]


def _remembering(counter: TokenCounter) -> TokenCounter:
    return _remembered(counter) if isinstance(counter, Hashable) else counter


@functools.lru_cache(maxsize=8)
def _remembered(counter: Callable[[str], int]) -> Callable[[str], int]:
    return functools.lru_cache(maxsize=1024)(counter)
