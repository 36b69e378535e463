"""A recorded run played again under a strategy: what each model call sends, costs and still shows."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.replay.cache_pricing import Charge, Ledger, Tokens
from accp_adapters.replay.evidence import Evidence, Need
from accp_adapters.replay.prompts import Prompts
from accp_adapters.replay.recorded_run import Call, Role, Run, is_foreign
from accp_adapters.replay.strategy import Sent, Strategy

__all__ = ["FETCH_CALL_TOKENS", "CallFigures", "MessageFigures", "Replay", "Tokenizer", "replay"]

Tokenizer = Callable[[str], Tokens]

FETCH_CALL_TOKENS: Final = 40
"""What a model writes to fetch one reference, an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFigures:
    """One model call of a replay."""

    agent: str
    charge: Charge
    with_fetches: tuple[Charge, ...]
    """The same call after all that its agent had to fetch so far; two charges where this call fetches."""
    needed: int
    visible: int
    reachable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFigures:
    """One message that a model was shown as a tool's or another agent's words."""

    position: int
    sender: str
    tool: str
    recorded: int
    """Its tokens as recorded."""
    sent: int
    """Its tokens under the strategy."""
    shown: int
    """In how many prompts it stands so."""
    preview: str
    """How it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What one strategy made of one run."""

    run: str
    source: str
    strategy: str
    calls: tuple[CallFigures, ...]
    messages: tuple[MessageFigures, ...]


def replay(run: Run, strategy: Strategy, tokenize: Tokenizer) -> Replay:
    """Return what `run` would have sent under `strategy`; a text that was sent never changes."""
    stage = _Stage(run, strategy, functools.cache(tokenize))
    calls = tuple(stage.play(call) for call in run.calls)
    return Replay(run=run.name, source=run.source, strategy=strategy.name, calls=calls, messages=stage.messages())


class _Stage:
    """One run and the texts it sends: the ledgers, and what each agent has fetched so far."""

    def __init__(self, run: Run, strategy: Strategy, tokenize: Tokenizer) -> None:
        self._run = run
        self._prompts = Prompts(run, strategy)
        self._tokenize = tokenize
        self._fetch_tool = strategy.fetch_tool
        self._evidence = Evidence(run)
        self._ledger, self._fetch_ledger = Ledger(), Ledger()
        self._fetched: dict[str, dict[int, int]] = defaultdict(dict)
        self._shown: Counter[tuple[int, str]] = Counter()

    def play(self, call: Call) -> CallFigures:
        """Return the figures of the next call."""
        sent = self._prompts.of(call)
        self._shown.update((i, sent[i].text) for i in call.prompt if is_foreign(self._run.messages[i], call.agent))
        needs = self._evidence.needs(call, sent)
        return CallFigures(
            agent=call.agent,
            charge=self._ledger.enter(call.agent, self._prompt(call, sent, {})),
            with_fetches=tuple(self._charges_with_fetches(call, sent, needs)),
            needed=len(needs),
            visible=sum(need.visible for need in needs),
            reachable=sum(need.reachable for need in needs),
        )

    def messages(self) -> tuple[MessageFigures, ...]:
        """Return the figures of the messages that models were shown, in each of the forms they were shown in."""
        return tuple(self._figures(*one, shown) for one, shown in sorted(self._shown.items()))

    def _figures(self, position: int, text: str, shown: int) -> MessageFigures:
        message = self._run.messages[position]
        return MessageFigures(
            position=position,
            sender=message.sender,
            tool=message.tool if message.role is Role.TOOL else "",
            recorded=len(self._tokenize(message.text)),
            sent=len(self._tokenize(text)),
            shown=shown,
            preview=" ".join(message.text[:200].split())[:60],
        )

    def _charges_with_fetches(self, call: Call, sent: Mapping[int, Sent], needs: Sequence[Need]) -> Iterator[Charge]:
        """Yield the call's price with what was fetched before, then once more with what it fetches itself."""
        fetched = self._fetched[call.agent]
        yield self._fetch_ledger.enter(call.agent, self._prompt(call, sent, fetched))
        before = len(fetched)
        for need in needs:
            if need.sources and fetched.keys().isdisjoint(need.sources):
                fetched[need.sources[0]] = call.prompt[-1]
        if len(fetched) > before:
            yield self._fetch_ledger.enter(call.agent, self._prompt(call, sent, fetched))

    def _prompt(self, call: Call, sent: Mapping[int, Sent], fetched: Mapping[int, int]) -> list[Tokens]:
        """Return the parts of a prompt; `fetched` says which sources stand in it, after which message."""
        parts = [self._tokenize(call.tools)]
        if self._fetch_tool and any(sent[position].ref for position in call.prompt):
            parts.append(self._tokenize(self._fetch_tool))
        for position in call.prompt:
            parts.append(self._tokenize(sent[position].text))
            parts += [part for source, after in fetched.items() if after == position for part in self._fetch(source)]
        return parts

    def _fetch(self, source: int) -> tuple[Tokens, Tokens]:
        return (0,) * FETCH_CALL_TOKENS, self._tokenize(self._run.messages[source].text)
