"""Where the needed values of a call stand: in what was recorded, in what was sent, behind references."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from accp_adapters.replay.needed_values import Value, stands, values_of
from accp_adapters.replay.recorded_run import Call, Run, is_foreign
from accp_adapters.replay.strategy import Sent

__all__ = ["Evidence", "Need"]


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


class Evidence:
    """The needed values of a run's calls, and where they stand in what was sent; each is looked up once a text."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._definitions = sorted({call.tools for call in run.calls})
        self._stands = functools.cache(stands)

    def needs(self, call: Call, sent: Mapping[int, Sent]) -> list[Need]:
        """Return the values that the output of `call` needed from tools and other agents.

        `sent` holds what the model was sent in the place of each message of its prompt.
        """
        foreign = [i for i in call.prompt if is_foreign(self._run.messages[i], call.agent)]
        given = [self._run.messages[i].text for i in call.prompt if i not in foreign]
        values = values_of([self._run.messages[i] for i in call.output])
        sources = {value: self._sources(value, foreign) for value in sorted(values, key=str)}
        return [
            self._need(value, found, foreign, sent)
            for value, found in sources.items()
            if found and not self._stands_in(value, [*given, *self._definitions])
        ]

    def _sources(self, value: Value, positions: Iterable[int]) -> tuple[int, ...]:
        return tuple(i for i in positions if self._stands(value, self._run.messages[i].text))

    def _stands_in(self, value: Value, texts: Iterable[str]) -> bool:
        return any(self._stands(value, text) for text in texts)

    def _need(self, value: Value, found: tuple[int, ...], foreign: Sequence[int], sent: Mapping[int, Sent]) -> Need:
        visible = self._stands_in(value, (sent[i].text for i in (*found, *foreign)))
        return Need(value, visible, () if visible else tuple(i for i in sorted(found) if sent[i].ref))
