"""What a model is sent of a conversation: the one function that decides it, for whatever sends or measures prompts.

It has what a middleware has, and nothing else: the messages up to the call, the name of the agent whose model reads
them, the texts that were handed over to this agent, and the rules of the policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from accp_core.projection.conversations import ProjectedConversations
from accp_core.projection.other_agents import attribute
from accp_core.projection.projector import ProjectionRules, Projector
from accp_core.projection.record import MessageRecord, Projected, Role
from accp_core.references import find_references, match_keys

__all__ = ["ProjectedPrompt", "PromptProjector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedPrompt:
    """The messages of a prompt as a model is sent them."""

    messages: tuple[Projected, ...]
    """The projection of each message."""
    offers_tool: bool
    """Whether the tool that opens references belongs to the prompt: a message shows a reference, or calls the tool."""


class PromptProjector:
    """Projects conversations by one set of rules; it remembers those that it has projected, see `memory`."""

    def __init__(self, rules: ProjectionRules) -> None:
        """Project by `rules`."""
        self._rules: Final = rules
        self._known: Final = ProjectedConversations(lambda opens: Projector(rules, opens=opens))

    def project(
        self,
        records: Iterable[MessageRecord],
        *,
        agent: str | None = None,
        handed_over: Iterable[str] = (),
    ) -> ProjectedPrompt:
        """Return what the model of `agent` is sent of a conversation; what is sent of a message never changes later.

        Args:
            records: The conversation from its first message on; instructions and tool definitions stand beside it.
            agent: The name of the agent, None where it has none.
            handed_over: The keys of texts that another agent handed over to it.
        """
        attributed = list(attribute(records, names=self._rules.agent_names, agent=agent))
        projected = self._known.project(attributed, start=_cited(attributed, handed_over))
        offers_tool = any(shown.stored for shown in projected)
        return ProjectedPrompt(
            messages=tuple(projected),
            offers_tool=offers_tool
            or any(call.name == self._rules.open_with for record in attributed for call in record.calls),
        )


def _cited(records: Iterable[MessageRecord], handed_over: Iterable[str]) -> frozenset[str]:
    """Return those keys that the words of other agents name: the others change nothing."""
    keys = set(handed_over)
    words = (record.text for record in records if record.role is Role.OTHER_AGENT) if keys else ()
    return frozenset(match_keys((name for text in words for name in find_references(text)), keys).values())
