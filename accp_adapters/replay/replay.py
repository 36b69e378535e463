"""A recorded run replayed under a strategy: what each call sends, what it costs, and what it still shows."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from accp_adapters.policy import Policy
from accp_adapters.replay.prompts import PromptBuilder, SentPrompt, Strategy, StrategyName, to_strategy
from accp_adapters.replay.recorded_run import RecordedCall, Role, Run, is_foreign
from accp_adapters.replay.visibility import HeldValues, OneFetch, VisibilityCheck, forget_texts
from accp_adapters.tokens import remembered_ids
from accp_core.bounded import SizedCache

__all__ = [
    "CACHE_MINIMUM", "READ_PRICE", "WRITE_PRICE", "CallFigures", "Charge", "MessageFigures",
    "PromptCache", "Replay", "TokenIds", "Tokenizer", "price_prompt", "replay", "replay_all",
]  # fmt: skip


# What prompts cost where the provider caches their prefix: tokens, cached tokens and the price of both.
#
# Prices are relative to a token that is not cached. They are the published ones of 2025: OpenAI caches prompts of at
# least 1,024 tokens in steps of 128; Anthropic charges 0.1 for a token read from the cache, 1.25 for one written to it.

CACHE_MINIMUM: Final = 1_024
"""Tokens; a shorter prompt is not cached."""
CACHE_STEP: Final = 128
"""Tokens; the cached beginning of a prompt is a multiple of this."""
READ_PRICE: Final = 0.1
"""Price of a token that is read from the cache."""
WRITE_PRICE: Final = 1.25
"""Price of a token that is written to the cache."""
TokenIds = Sequence[int]
"""The token ids of one part of a prompt: the tool definitions or one message."""
_Form = tuple[int, str]
"""The position of a message, and its text as it is sent."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What one prompt costs."""

    tokens: int
    """Tokens of the whole prompt."""
    cached: int
    """Tokens that the provider reads from its cache."""
    cost: float
    """Cache-weighted tokens: 1.0 is one token at the list price."""


def price_prompt(tokens: int, prefix: int) -> Charge:
    """Return what a prompt costs.

    Args:
        tokens: Tokens of the whole prompt.
        prefix: Tokens at its beginning that the previous prompt began with, too.
    """
    if tokens < CACHE_MINIMUM:
        return Charge(tokens, 0, float(tokens))
    cached = prefix // CACHE_STEP * CACHE_STEP if prefix >= CACHE_MINIMUM else 0
    return Charge(tokens, cached, READ_PRICE * cached + WRITE_PRICE * (tokens - cached))


class PromptCache:
    """A provider's cache of prompt prefixes: it remembers the last prompt of each agent of a run."""

    def __init__(self) -> None:
        """Start empty."""
        self._last: dict[str, Sequence[TokenIds]] = {}

    def charge(self, agent: str, prompt: Sequence[TokenIds]) -> Charge:
        """Return what `prompt`, the next one of `agent`, costs, and remember it."""
        prefix = _common_prefix(self._last.get(agent, ()), prompt)
        self._last[agent] = prompt
        return price_prompt(sum(map(len, prompt)), prefix)


def _common_prefix(last: Sequence[TokenIds], prompt: Sequence[TokenIds]) -> int:
    """Return how many tokens at the beginning two prompts share, compared part by part, then token by token."""
    shared = 0
    for old, new in zip(last, prompt, strict=False):
        if old is not new and old != new:
            pairs = zip(old, new, strict=False)
            return shared + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        shared += len(new)
    return shared


Tokenizer = Callable[[str], TokenIds]
"""Returns the token ids of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """The figures of one model call."""

    agent: str
    """The agent that made the call."""
    charge: Charge
    """What its prompt costs."""
    needed: int
    """Values that its output needed from tools and other agents."""
    visible: int
    """Needed values that are visible in its prompt."""
    reachable: int
    """Those that are visible or one fetch away."""
    unasked: int = 0
    """Those that no fetch was made for, because the run had asked for too much before."""
    queries: float = 0.0
    """What fetching the others would cost, each answer with one more call that is sent this prompt and the answer."""
    unanswered: bool = False
    """Whether its answer is not recorded, so that what it needed is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFigures:
    """The figures of one message of a tool or another agent, in one form in which a model was sent it."""

    position: int
    """Its position in the run."""
    sender: str
    """The tool or agent that it comes from."""
    tool: str
    """The tool whose result it is; empty for the message of an agent."""
    recorded: int
    """Tokens as recorded."""
    sent: int
    """Tokens under the strategy."""
    unchanged: bool
    """Whether it is sent as recorded."""
    shown: int
    """How many prompts hold it in this form."""
    kept: str = ""
    """Why it is sent as recorded: "prose", "small" …; empty: it is rewritten, or there is no reason on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The figures of one run under one strategy."""

    run: str
    """The name of the run."""
    source: str
    """The file that the run was read from."""
    strategy: str
    """The name of the strategy."""
    calls: tuple[CallFigures, ...]
    """Each model call, in order."""
    messages: tuple[MessageFigures, ...]
    """Each message of a tool or another agent that a model was sent."""
    prompts: tuple[tuple[tuple[int, str], ...], ...] = ()
    """What each call sent: position and text of each message; empty unless the texts were asked for."""
    senders: tuple[str, ...] = ()
    """Who sent each message of the run."""


def replay(
    run: Run, strategy: Strategy | StrategyName | Policy, tokenize: Tokenizer | None = None, *, texts: bool = False
) -> Replay:
    """Return what `run` would have sent under `strategy`; a text that was sent never changes.

    Args:
        run: A recorded run, see `read_runs`.
        strategy: A strategy, the name of one, or a `Policy`.
        tokenize: Splits a text into the tokens of the model; None: o200k_base.
        texts: Whether the texts of the prompts are kept.
    """
    ids = functools.cache(tokenize or remembered_ids)
    return _Replayer(run, to_strategy(strategy), ids, VisibilityCheck(run), texts).replay()


_SEATS: Final = 16_000_000
"""Tokens of all prompts of one run that later calls may go on from; a prompt counts 10,000 more, a message 100."""


@dataclass(slots=True)
class _Seat:
    """The prompts of one agent of which each goes on from the one before, up to the last one."""

    sent: SentPrompt | None = None
    held: HeldValues = field(default_factory=HeldValues)
    parts: list[TokenIds] = field(default_factory=list)
    """The tokens of each message."""
    texts: list[_Form] = field(default_factory=list)
    foreign: list[_Form] = field(default_factory=list)
    """Those messages that come from tools and other agents."""


class _Replayer:
    """The state of one replay: the provider's cache, and how often each message was shown."""

    def __init__(self, run: Run, strategy: Strategy, tokenize: Tokenizer, check: VisibilityCheck, texts: bool) -> None:
        self._run = run
        self._name = strategy.name
        self._texts = texts
        self._prompts: list[tuple[_Form, ...]] = []
        self._builder = PromptBuilder(run, strategy)
        self._tokenize = tokenize
        self._one_fetch = OneFetch(strategy.fetch)
        self._visibility = check
        self._cache = PromptCache()
        self._seats: SizedCache[tuple[str, tuple[int, ...]], _Seat] = SizedCache(_SEATS)
        self._shown: Counter[_Form] = Counter()
        self._kept: dict[_Form, str] = {}

    def replay(self) -> Replay:
        """Return the figures of the run."""
        return Replay(
            run=self._run.name,
            source=self._run.source,
            strategy=self._name,
            calls=tuple(map(self._replay_call, self._run.calls)),
            messages=tuple(self._figures(*form, shown) for form, shown in sorted(self._shown.items())),
            prompts=tuple(self._prompts),
            senders=tuple(message.tool or message.sender for message in self._run.messages),
        )

    def _replay_call(self, call: RecordedCall) -> CallFigures:
        """Return the figures of the next call."""
        sizes = sorted({len(prompt) for _, prompt in iter(self._seats.keys())}, reverse=True)
        known = ((call.agent, call.prompt[:size]) for size in sizes if self._builder.goes_on(call, size))
        before = next((key for key in known if key in self._seats), (call.agent, ()))
        seat, start = self._seats.pop(before) or _Seat(), len(before[1])
        seat.sent = prompt = self._builder.build(call, seat.sent, start)
        self._add(seat, call, prompt, start)
        needed = self._visibility.needed_values(call, prompt.messages, self._one_fetch, seat.held)
        charge = self._cache.charge(call.agent, [*map(self._tokenize, prompt.definitions), *seat.parts])
        self._seats.put((call.agent, call.prompt), seat, min(10_000 + charge.tokens + 100 * len(seat.parts), _SEATS))
        answers = {value.fetched.answer for value in needed if value.fetched}
        return CallFigures(
            agent=call.agent,
            charge=charge,
            needed=len(needed),
            visible=sum(value.visible for value in needed),
            reachable=sum(value.reachable for value in needed),
            unasked=sum(value.unasked for value in needed),
            unanswered=not call.output,
            queries=sum(price_prompt(charge.tokens + self._count(a), charge.tokens).cost for a in answers),
        )

    def _add(self, seat: _Seat, call: RecordedCall, prompt: SentPrompt, start: int) -> None:
        """Add the messages of a prompt, from one on, to those of its agent."""
        for position in call.prompt[start:]:
            sent = prompt.messages[position]
            form = position, sent.text
            seat.parts.append(self._tokenize(sent.text))
            seat.texts.append(form)
            if is_foreign(self._run.messages[position], call.agent):
                seat.foreign.append(form)
                self._kept[form] = sent.kept
        self._shown.update(seat.foreign)
        if self._texts:
            self._prompts.append(tuple(seat.texts))

    def _figures(self, position: int, text: str, shown: int) -> MessageFigures:
        message = self._run.messages[position]
        return MessageFigures(
            position=position,
            sender=message.sender,
            tool=message.tool if message.role is Role.TOOL else "",
            recorded=self._count(message.text),
            sent=self._count(text),
            unchanged=text == message.text,
            shown=shown,
            kept=self._kept[position, text] if text == message.text else "",
        )

    def _count(self, text: str) -> int:
        return len(self._tokenize(text))


def replay_all(
    runs: Iterable[Run], names: Sequence[StrategyName], *, texts: bool = False
) -> Iterator[tuple[Replay, ...]]:
    """Yield, for each of `runs` in order, its replay under each of `names`; one run is held at a time.

    Args:
        runs: Recorded runs, see `read_runs`.
        names: The strategies, by name.
        texts: Whether the texts of the prompts are kept.
    """
    strategies = list(map(to_strategy, names))
    last, replays = None, tuple[Replay, ...]()
    for run in runs:
        unnamed = replace(run, name="", source="")
        # A log that repeats one run a thousand times is replayed once.
        if unnamed != last:
            # What is the same under all strategies is found once: the tokens of a text, and the values in it.
            ids, check = functools.cache(remembered_ids), VisibilityCheck(run)
            replays = tuple(_Replayer(run, strategy, ids, check, texts).replay() for strategy in strategies)
            last = unnamed
            # What was found in the texts of one run is of no use for the next one.
            forget_texts()
        yield tuple(replace(each, run=run.name, source=run.source) for each in replays)
