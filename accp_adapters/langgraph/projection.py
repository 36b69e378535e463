"""What the model of an agent is sent of the messages in the state; the state itself stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.config import get_config

from accp_adapters.langgraph.messages import plain_text, to_record, to_records, with_texts
from accp_adapters.langgraph.policy import Policy
from accp_core.projection import PriorPrompt, Projector
from accp_core.references import StoredText, key_of

__all__ = ["MessageProjector", "ProjectedMessages", "agent_name", "find_words", "project", "projector_after"]

_Message = TypeVar("_Message", bound=BaseMessage)

_CHARS_PER_TOKEN: Final = 4
"""An estimate for the instructions, which no provider has counted yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedMessages:
    """What a model is sent."""

    messages: list[Any]
    """The messages; those that did not change are the objects of the state."""
    has_previews: bool
    """Whether any of them holds a preview that the state does not, so that the fetch tool is needed."""


def agent_name() -> str | None:
    """Return the name of the agent that runs, None where it has none or nothing runs."""
    try:
        name = get_config().get("metadata", {}).get("lc_agent_name")
    except RuntimeError:
        return None
    return str(name) if name else None


def find_words(key: str, messages: Iterable[BaseMessage]) -> str | None:
    """Return the words of an agent in `messages` that a preview cites as `key`, None where there are none.

    A text that is whole in the state needs no other store.
    """
    words = (text for message in messages if message.name and (text := plain_text(message)))
    return next((text for text in words if key_of(text) == key), None)


def project(
    messages: Sequence[BaseMessage], policy: Policy, *, agent: str | None = None, instructions: str = ""
) -> ProjectedMessages:
    """Return what the model of `agent` is sent of `messages`.

    Args:
        messages: The conversation from its first message on.
        policy: What may be shown in another form.
        agent: The name of the agent, None where it has none.
        instructions: The system prompt, which comes before the messages.
    """
    projector = MessageProjector(policy, agent=agent, tokens=len(instructions) // _CHARS_PER_TOKEN)
    projected = [projector.project(message) for message in messages]
    return ProjectedMessages(
        messages=[message for message, _ in projected], has_previews=any(stored for _, stored in projected)
    )


def projector_after(
    messages: Iterable[BaseMessage], policy: Policy, agent: str | None, *, offers_fetch: bool = False
) -> Projector:
    """Return the projector that has `messages`, for compressing the results that come after them.

    Args:
        messages: The conversation before the results.
        policy: What may be shown in another form.
        agent: The name of the agent, None where it has none.
        offers_fetch: Whether the fetch tool is offered in any case, so that the first reference costs nothing.
    """
    rules = replace(policy.rules, repeats=False)
    projector = Projector(rules, prompt=PriorPrompt(has_references=offers_fetch))
    for record in to_records(messages, policy, agent):
        projector.add(record)
    return projector


class MessageProjector:
    """The core's projector over LangChain messages, one by one from the first of a conversation on."""

    def __init__(self, policy: Policy, *, agent: str | None = None, tokens: int = 0) -> None:
        """Project for `agent` by `policy`.

        Args:
            policy: What may be shown in another form.
            agent: The name of the agent, None where it has none.
            tokens: Approximate tokens before the first message: instructions and tools.
        """
        self._policy: Final = policy
        self._agent: Final = agent
        self._projector: Final = Projector(policy.rules, prompt=PriorPrompt(tokens=tokens))

    def project(self, message: _Message) -> tuple[_Message, tuple[StoredText, ...]]:
        """Return what the model is sent of the next message, and the texts that its previews cite.

        The message is the same object where nothing changes.
        """
        projected = self._projector.project(to_record(message, self._policy, self._agent))
        if not projected.is_changed:
            return message, ()
        changed = with_texts(message, projected.blocks)
        if isinstance(changed, AIMessage):
            # What the provider counted belongs to the text as it was.
            changed = changed.model_copy(update={"usage_metadata": None})
        return changed, projected.stored
