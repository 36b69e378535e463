"""Where the values that a call needed are: in the prompt that was sent, one fetch away, or out of reach."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.replay.needed_values import Detector, values_of
from accp_adapters.replay.recorded_run import RecordedCall, Run, is_foreign
from accp_adapters.replay.strategy import SentMessage
from accp_core.receipts.values import WantedValue, contains

__all__ = ["Fetched", "NeededValue", "OneFetch", "VisibilityCheck"]

_MAX_SOURCES: Final = 8
"""References that are asked for a value; one fetch names at most so many."""
_ADDRESSES: Final = re.compile(r"=([^\s$()]*)\$\{[^}\n]+\}([^\s$()]*)")
"""An address of a view that is written with the name of another value: `issues_url=${url}/issues`."""
_WORD: Final = re.compile(r"\w+")
_MAX_WORDS: Final = 12
"""Words of a long value that a model would ask for."""
_NOTHING_FOUND: Final = re.compile(r"0 of [\d,]+ ")
"""How an answer begins that names what it was asked for and has not found it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The answer to a fetch."""

    answer: str
    """What the model reads."""
    found: bool
    """Whether the value is in it."""


class OneFetch:
    """Asks one stored text for one value, with one query: nobody turns pages."""

    def __init__(self, fetch: Callable[[str, str], str] | None) -> None:
        """Ask by `fetch`, see `Strategy.fetch`; None: each fetch brings the whole text."""
        self._fetch: Final = fetch
        self.ask: Final = functools.cache(self._ask)
        """Returns what `ask(text, value)` brings: of the queries that a model might write the first that finds it."""

    def _ask(self, text: str, value: WantedValue) -> Fetched:
        if self._fetch is None:
            return Fetched(answer=text, found=True)
        answers = [""]
        for query in _queries(value):
            answers.append(self._fetch(text, query))
            if not _NOTHING_FOUND.match(answers[-1]) and contains(value, answers[-1]):
                return Fetched(answer=answers[-1], found=True)
        shown = next(filter(None, reversed(answers)), "") or self._fetch(text, "")
        return Fetched(answer=shown, found=False)


def _queries(value: WantedValue) -> Iterator[str]:
    """Yield the value as a model may write it, then its words."""
    if not isinstance(value, str):
        yield from dict.fromkeys((f"{value:f}", f"{value:,f}"))
        return
    yield value
    words = " ".join(_WORD.findall(value)[:_MAX_WORDS])
    if words and words != value:
        yield words


@dataclass(frozen=True, slots=True)
class NeededValue:
    """One value that the output of one call needed."""

    value: WantedValue
    """The value."""
    visible: bool
    """Whether it is in the prompt that was sent."""
    fetched: Fetched | None = None
    """What one fetch that asks for it brings; None: it is visible, or no reference leads to a text that holds it."""
    in_parts: bool = False
    """Whether it is in a view, but in parts: an address with the name of another (`${url}/issues`)."""

    @property
    def reachable(self) -> bool:
        """Whether the model reads the value, can put it together, or finds it with one fetch that asks for it."""
        return self.visible or self.in_parts or (self.fetched is not None and self.fetched.found)


class VisibilityCheck:
    """Finds the needed values of a run's calls in what was sent; each value is looked up once in each text.

    What a call needed is the same under each strategy and is found once.
    """

    def __init__(self, run: Run, detector: Detector = values_of, *, looked_up: VisibilityCheck | None = None) -> None:
        """Check the calls of `run`.

        Args:
            run: A recorded run.
            detector: Says what counts as a value.
            looked_up: Another check, whose look-ups are used and added to.
        """
        self._run = run
        self._detector = detector
        self._contains: Callable[[WantedValue, str], bool] = (
            looked_up._contains if looked_up else functools.cache(contains)
        )
        self._sources: dict[RecordedCall, Mapping[WantedValue, list[int]]] = {}

    def needed_values(
        self, call: RecordedCall, sent: Mapping[int, SentMessage], one_fetch: OneFetch
    ) -> list[NeededValue]:
        """Return the values that the output of `call` needed from tools and other agents.

        Args:
            call: One call of the run.
            sent: What the model was sent, by the position of each message of its prompt.
            one_fetch: Asks for values that are hidden.
        """
        if call not in self._sources:
            self._sources[call] = dict(self._find_sources(call))
        foreign = self._foreign(call)
        return [
            self._look_up(value, holders, foreign, sent, one_fetch) for value, holders in self._sources[call].items()
        ]

    def _find_sources(self, call: RecordedCall) -> Iterator[tuple[WantedValue, list[int]]]:
        """Yield each value that the output of `call` needed, and the positions of the messages that held it."""
        messages, foreign = self._run.messages, self._foreign(call)
        others = set(call.prompt).difference(foreign)
        other_texts = [*(messages[i].text for i in call.prompt if i in others), call.tools]
        for value in sorted(self._detector([messages[i] for i in call.output]), key=str):
            holders = [i for i in foreign if self._contains(value, messages[i].text)]
            if holders and not self._is_in(value, other_texts):
                yield value, holders

    def _foreign(self, call: RecordedCall) -> list[int]:
        return [i for i in call.prompt if is_foreign(self._run.messages[i], call.agent)]

    def _is_in(self, value: WantedValue, texts: Iterable[str]) -> bool:
        return any(self._contains(value, text) for text in texts)

    def _look_up(
        self,
        value: WantedValue,
        holders: Sequence[int],
        foreign: Sequence[int],
        sent: Mapping[int, SentMessage],
        one_fetch: OneFetch,
    ) -> NeededValue:
        # The messages that held it as recorded are the likeliest to hold it still.
        if self._is_in(value, (sent[i].text for i in (*holders, *foreign))):
            return NeededValue(value, visible=True)
        sources = [self._run.messages[i].text for i in sorted(holders) if sent[i].reference]
        if not sources:
            return NeededValue(
                value, visible=False, in_parts=any(self._is_in_parts(value, sent[i].text) for i in holders)
            )
        answers = (one_fetch.ask(text, value) for text in sources[:_MAX_SOURCES])
        fetched = next((each for each in answers if each.found), None) or one_fetch.ask(sources[0], value)
        return NeededValue(value, visible=False, fetched=fetched)

    def _is_in_parts(self, value: WantedValue, text: str) -> bool:
        """Return whether `value` is an address that `text` writes as other characters around a value that it shows."""
        return isinstance(value, str) and any(
            value.startswith(before) and value.endswith(behind) and self._contains(part, text)
            for before, behind in _ADDRESSES.findall(text)
            if (part := value[len(before) : len(value) - len(behind)])
        )
