"""What came of a task, by title or id; a failure is an answer, too (ACI sections 4.1 and 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accp_core.aci.contexts import AgentContext
from accp_core.aci.evaluation import OpenItem
from accp_core.aci.items import DONE, OPEN, Json, Outcome, TodoItem, Usage
from accp_core.aci.plan import Progress, SubtaskState

__all__ = ["ItemResult", "Results", "SubtaskResult", "result_texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """What came of one item."""

    item_id: str
    """The item."""
    description: str
    """What was to be done."""
    outcome: Outcome | None
    """Whether it is done; None: it has not been answered yet."""
    text: str
    """The result; why it is not done; or the agent's words that were not understood."""
    reason: str = ""
    """Why it is not done, or what was not understood."""

    @classmethod
    def of(cls, item: TodoItem, verified: str | None, left: OpenItem | None) -> ItemResult:
        """Return the result of an item with its verified abstract, or with what is known of it otherwise."""
        if verified is not None:
            return cls(item_id=item.item_id, description=item.description, outcome=Outcome.DONE, text=verified)
        if left is None:
            return cls(item_id=item.item_id, description=item.description, outcome=None, text="")
        return cls(
            item_id=item.item_id,
            description=item.description,
            outcome=left.outcome,
            text=left.words,
            reason=left.reason,
        )

    def __str__(self) -> str:
        """Return the result, or "failed: …" or "unverified: …"; empty where nothing is known yet."""
        return self.text if self.outcome in (Outcome.DONE, None) else f"{self.outcome}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskResult:
    """What came of one subtask."""

    subtask_id: str
    """Its SubTaskID."""
    title: str
    """Its name."""
    agent_id: str
    """Its agent."""
    state: SubtaskState
    """Whether it is completed, failed, unverified, or still in progress."""
    items: tuple[ItemResult, ...]
    """Its items, in order."""
    reason: str = ""
    """Why it is not completed; empty where it is, or where nothing is known yet."""
    stopped_by: str = ""
    """The SubTaskID of the failure that stopped it; empty: none did."""
    attempts: int = 0
    """How often it was delivered."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    started: str | None = None
    """When it was delivered first, in ISO 8601, or None."""
    ended: str | None = None
    """When it ended, or None."""

    @classmethod
    def of(cls, planned: AgentContext, progress: Progress) -> SubtaskResult:
        """Return what came of the planned subtask, as far as its progress shows."""
        left = {item.item_id: item for item in progress.open}
        verified = progress.verified
        items = (ItemResult.of(item, verified.get(item.item_id), left.get(item.item_id)) for item in planned.todo_items)
        return cls(
            subtask_id=planned.subtask_id,
            title=planned.subtask_name,
            agent_id=planned.agent_id,
            state=progress.state,
            items=tuple(items),
            reason=progress.reason,
            stopped_by=progress.stopped_by,
            attempts=progress.attempts,
            usage=progress.usage,
            started=progress.started,
            ended=progress.ended,
        )

    @property
    def done(self) -> bool:
        """Whether every item is verified."""
        return self.state is SubtaskState.COMPLETED

    @property
    def value(self) -> Any:
        """The result of a single item as text, of several as a list of texts; `str(item)` of each."""
        texts = [str(item) for item in self.items if str(item)]
        return texts[0] if len(texts) == 1 else texts

    @property
    def text(self) -> str:
        """The results of all items, one a line."""
        return "\n".join(str(item) for item in self.items if str(item))

    def __str__(self) -> str:
        """Return `text`, so that a result can be put into a sentence."""
        return self.text


class Results(Mapping[str, SubtaskResult]):
    """The results of a task: `results["Find churn"]` or `results["s1"]`; iterates over titles, else ids."""

    def __init__(self, results: Iterable[SubtaskResult]) -> None:
        """Keep `results` in their order."""
        self._by_id: Final = {result.subtask_id: result for result in results}
        self._names: Final = _named((result.subtask_id, result.title) for result in self._by_id.values())

    def __getitem__(self, name: str) -> SubtaskResult:
        """Return the result of the subtask with this id or title.

        Raises:
            KeyError: no subtask, or more than one, has that name.
        """
        if name in self._by_id:
            return self._by_id[name]
        found = [result for result in self._by_id.values() if result.title == name]
        if len(found) == 1:
            return found[0]
        known = [result.subtask_id for result in found] or list(self._names)
        raise KeyError(f"expected one of {known}, found {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._by_id or name in self._names

    @property
    def usage(self) -> dict[str, Usage]:
        """AgentID to what its work cost."""
        usage: dict[str, Usage] = {}
        for result in self._by_id.values():
            usage[result.agent_id] = usage.get(result.agent_id, Usage()) + result.usage
        return usage

    @property
    def failures(self) -> dict[str, str]:
        """The name of each subtask that ended without completing, and why."""
        ended = (SubtaskState.FAILED, SubtaskState.UNVERIFIED)
        return {name: self[own].reason for name, own in self._names.items() if self[own].state in ended}

    def to_json(self) -> dict[str, Json]:
        """Return the name of each subtask and its `value`."""
        return {name: self._by_id[own].value for name, own in self._names.items()}


def result_texts(contexts: Iterable[AgentContext]) -> dict[str, Json]:
    """Return the results in the master's contexts: name of each subtask to its abstract, or to a list of several.

    A failed item is "failed: …" and one that nobody knows of "unverified: …", as in `Interaction.contexts`. A subtask
    without a name, or with one that is taken, has its SubTaskID as name.
    """
    by_id = {context.subtask_id: context for context in contexts}
    names = _named((context.subtask_id, context.subtask_name) for context in by_id.values())
    texts = {name: [_shown(by_id[own], item) for item in by_id[own].abstracts] for name, own in names.items()}
    return {name: found[0] if len(found) == 1 else found for name, found in texts.items()}


def _shown(context: AgentContext, item_id: str) -> str:
    mark = {DONE: "", OPEN: "failed: "}.get(context.states.get(item_id, -1), "unverified: ")
    return mark + context.abstracts[item_id]


def _named(subtasks: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return name to SubTaskID: the title, or the id where there is no title or it is taken."""
    names: dict[str, str] = {}
    for subtask_id, title in subtasks:
        names[title if title and title not in names else subtask_id] = subtask_id
    return names
