"""What a model is sent of a conversation: the one function that decides it, for whatever sends or measures prompts.

It has what a middleware has, and nothing else: the messages up to the call, the name of the agent whose model reads
them, the texts that were handed over to this agent, and the rules of the policy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from accp_core.bounded import SizedCache
from accp_core.compression import ENTRY_BYTES, bytes_of
from accp_core.projection.projector import ProjectionRules, Projector
from accp_core.projection.records import MessageRecord, Projected, Role, attribute
from accp_core.references import find_references, match_keys

__all__ = ["ProjectedConversations", "ProjectedPrompt", "PromptProjector"]


# What a process remembers of earlier projections, so that a model call costs work for what is new.

_MAX_CONVERSATIONS: Final = 128 * 1024 * 1024
"""Bytes of all conversations of one set of rules."""


@dataclass(slots=True)
class _Conversation:
    """A conversation that was projected up to some message."""

    projector: Projector
    start: frozenset[str]
    records: list[MessageRecord] = field(default_factory=list)
    projected: list[Projected] = field(default_factory=list)
    texts: int = ENTRY_BYTES
    """The bytes of its messages and their projections, about."""

    @property
    def size(self) -> int:
        """The bytes of memory that it takes, about."""
        return self.texts + self.projector.size

    def add(self, record: MessageRecord) -> None:
        """Project the next message."""
        shown = self.projector.project(record)
        self.records.append(record)
        self.projected.append(shown)
        arguments = (text for call in shown.arguments for text in call.values())
        self.texts += ENTRY_BYTES + bytes_of((*record.blocks, *shown.blocks, *arguments))
        self.texts += sum(ENTRY_BYTES + sys.getsizeof(str(call.args)) for call in record.calls)


class ProjectedConversations:
    """The conversations that this process has projected by one set of rules, each up to its last message.

    A conversation is found by the hash of all its messages and compared with them, so that neither an id nor a place
    decides anything. One that is in use is not in here: a thread that needs it meanwhile projects from the beginning.
    """

    def __init__(
        self, new_projector: Callable[[frozenset[str]], Projector], *, max_bytes: int = _MAX_CONVERSATIONS
    ) -> None:
        """Remember nothing yet.

        Args:
            new_projector: Returns the projector of a new conversation, for the keys that open from its start on.
            max_bytes: Bytes of memory, about, of all conversations that are remembered: their messages, the projections
                and what finds repeated lines. A single one may pass it.
        """
        self._new_projector: Final = new_projector
        self._known: Final[SizedCache[int, _Conversation]] = SizedCache(max_bytes)

    @property
    def size(self) -> int:
        """The bytes of memory that all conversations take, about."""
        return self._known.size

    def project(self, records: Sequence[MessageRecord], *, start: frozenset[str] = frozenset()) -> list[Projected]:
        """Return the projection of each of `records`, the conversation from its first message on.

        Args:
            records: The messages.
            start: Keys of texts that open although no message has them.
        """
        hashes = list(accumulate(records, lambda before, record: hash((before, _hash(record))), initial=hash(start)))
        conversation = self._longest_known(records, hashes, start)
        for record in records[len(conversation.records) :]:
            conversation.add(record)
        projected = list(conversation.projected)
        # One that is larger than the bound is kept alone: the state of its agent holds most of it anyway.
        self._known.put(hashes[-1], conversation, min(conversation.size, self._known.max_size))
        return projected

    def _longest_known(
        self, records: Sequence[MessageRecord], hashes: Sequence[int], start: frozenset[str]
    ) -> _Conversation:
        """Return the conversation with the most of the first messages of `records`, a new one where none is known."""
        for length in range(len(records), 0, -1):
            found = self._known.pop(hashes[length])
            if found and found.start == start and found.records == list(records[:length]):
                return found
        return _Conversation(self._new_projector(start), start)


def _hash(record: MessageRecord) -> int:
    return hash((record.role, record.blocks, record.name, record.call_id, record.is_kept, record.stays, record.stored))


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
        self, records: Iterable[MessageRecord], *, agent: str | None = None, handed_over: Iterable[str] = ()
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
