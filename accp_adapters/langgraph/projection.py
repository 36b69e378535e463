"""What the model of an agent is sent of the messages in the state; the state itself stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from accp_adapters.langchain.messages import texts_in, to_records, with_projection
from accp_adapters.policy import Policy
from accp_core.projection import Projected, Projector, PromptProjector, attribute
from accp_core.references import StoredText

__all__ = ["MessageProjector", "ProjectedMessages", "projector_after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedMessages:
    """What a model is sent."""

    messages: list[Any]
    """The messages; those that did not change are the objects that were given."""
    stored: dict[str, tuple[StoredText, ...]]
    """The texts that previews cite, by the id of the message that holds them."""
    rewritten: list[tuple[BaseMessage, Projected]]
    """The messages that changed and that no earlier call of the model was sent, each with its projection."""
    failed: int
    """How many messages that no earlier call was sent stay as they are because their projection raised."""
    offers_tool: bool
    """Whether the messages need the fetch tool, see `ProjectedPrompt`."""


class MessageProjector:
    """Projects conversations of LangChain messages; it remembers, within a bound, those that it has projected."""

    def __init__(self, policy: Policy, *, stays: Callable[[BaseMessage], bool] = lambda message: False) -> None:
        """Project by `policy`; messages for which `stays` is true stay as they are."""
        self._stays: Final = stays
        self._prompts: Final = PromptProjector(policy.rules)

    def project(
        self,
        messages: Sequence[BaseMessage],
        *,
        state: Sequence[BaseMessage] | None = None,
        agent: str | None = None,
        handed_over: Iterable[str] = (),
    ) -> ProjectedMessages:
        """Return what the model of `agent` is sent of `messages`.

        Args:
            messages: The conversation from its first message on, as a request holds it.
            state: The messages of the state, which alone can open a reference: a text that is in none of them is
                shown as a view at most. None: they are `messages`.
            agent: The name of the agent, None where it has none.
            handed_over: The keys of texts that another agent handed over to it.
        """
        kept = None if state is None else {text for message in state for text in texts_in(message)}
        records = to_records(messages, kept=kept, stays=self._stays)
        prompt = self._prompts.project(records, agent=agent, handed_over=handed_over)
        pairs = list(zip(messages, prompt.messages, strict=True))
        unsent = pairs[_first_unsent(messages) :]
        return ProjectedMessages(
            messages=[with_projection(message, shown) for message, shown in pairs],
            stored={message.id or "": shown.stored for message, shown in pairs if shown.stored},
            rewritten=[pair for pair in unsent if pair[1].is_changed],
            failed=sum(shown.failed for _, shown in unsent),
            offers_tool=prompt.offers_tool,
        )


def _first_unsent(messages: Sequence[BaseMessage]) -> int:
    """Return the index after the last message of a model."""
    turns = (index for index in reversed(range(len(messages))) if isinstance(messages[index], AIMessage))
    return next(turns, -1) + 1


def projector_after(messages: Iterable[BaseMessage], policy: Policy, agent: str | None) -> Projector:
    """Return the projector that has `messages`, for storing the results that come after them compressed."""
    projector = Projector(replace(policy.rules, repeats=False))
    for record in attribute(to_records(messages), names=policy.rules.agent_names, agent=agent):
        projector.add(record)
    return projector
