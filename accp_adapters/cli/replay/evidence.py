"""Where the needed values of a call stand: in what was recorded, in what was sent, behind references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accp_adapters.cli.replay.needs import Value, stands, values_of
from accp_adapters.cli.replay.recording import Call, Run, is_foreign
from accp_adapters.cli.replay.strategy import Sent

__all__ = ["Evidence", "Need", "Witness"]


@dataclass(frozen=True, slots=True)
class Need:
    """One needed value of one call."""

    value: Value
    visible: bool
    sources: tuple[int, ...]
    """Positions of the messages whose whole text holds the value and is one fetch away."""

    @property
    def reachable(self) -> bool:
        """Whether the model reads the value or can open a reference to it."""
        return self.visible or bool(self.sources)


class Witness:
    """In which of a list of texts a value stands; each value is looked up once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._found: dict[Value, frozenset[int]] = {}

    def __call__(self, value: Value) -> frozenset[int]:
        """Return the positions of the texts in which `value` stands."""
        if value not in self._found:
            self._found[value] = frozenset(i for i, text in enumerate(self._texts) if stands(value, text))
        return self._found[value]


class Evidence:
    """The needed values of a run's calls, and what a strategy left of them."""

    def __init__(self, run: Run, sent: Mapping[int, Sent]) -> None:
        self._run = run
        self._sent = sent
        changed = {i: s.text for i, s in sent.items() if s.text != run.messages[i].text}
        self._recorded = Witness([message.text for message in run.messages])
        self._changed = Witness([changed.get(i, "") for i in range(len(run.messages))])
        self._unchanged = frozenset(range(len(run.messages))) - frozenset(changed)
        self._definitions = Witness(sorted({call.tools for call in run.calls}))

    def needs(self, call: Call) -> list[Need]:
        """Return the values that the output of `call` needed from tools and other agents."""
        foreign = frozenset(i for i in call.prompt if self._is_foreign(i, call))
        given = frozenset(call.prompt) - foreign
        values = values_of([self._run.messages[i] for i in call.output])
        needed = (v for v in values if self._is_needed(v, foreign, given))
        return [self._need(value, foreign) for value in sorted(needed, key=str)]

    def _is_foreign(self, position: int, call: Call) -> bool:
        return is_foreign(self._run.messages[position], call.agent)

    def _is_needed(self, value: Value, foreign: frozenset[int], given: frozenset[int]) -> bool:
        found = self._recorded(value)
        return bool(found & foreign) and not found & given and not self._definitions(value)

    def _need(self, value: Value, foreign: frozenset[int]) -> Need:
        found = self._recorded(value) & foreign
        visible = bool(found & self._unchanged or self._changed(value) & foreign)
        sources = () if visible else tuple(sorted(i for i in found if self._sent[i].ref))
        return Need(value, visible, sources)
