"""A recorded run played again under a strategy: what each model call sends, costs and still shows."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.cli.replay.evidence import Evidence, Need
from accp_adapters.cli.replay.ledger import Charge, Ledger, Tokens
from accp_adapters.cli.replay.recording import Call, Message, Role, Run, is_foreign
from accp_adapters.cli.replay.strategy import Birth, Sent, Strategy

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
    """Return what `run` would have sent under `strategy`; every text is rewritten once, when it is born."""
    sent = {position: strategy.rewrite(_birth(run, position)) for position in _shown(run)}
    stage = _Stage(run, sent, strategy, functools.cache(tokenize))
    return Replay(
        run=run.name,
        source=run.source,
        strategy=strategy.name,
        calls=tuple(stage.play(call) for call in run.calls),
        messages=tuple(stage.messages()),
    )


class _Stage:
    """One run and the texts it sends: the ledgers, and what each agent has fetched so far."""

    def __init__(self, run: Run, sent: Mapping[int, Sent], strategy: Strategy, tokenize: Tokenizer) -> None:
        self._run = run
        self._sent = sent
        self._tokenize = tokenize
        self._fetch_tool = strategy.fetch_tool
        self._evidence = Evidence(run, sent)
        self._ledger, self._fetch_ledger = Ledger(), Ledger()
        self._fetched: dict[str, dict[int, int]] = defaultdict(dict)

    def play(self, call: Call) -> CallFigures:
        """Return the figures of the next call."""
        needs = self._evidence.needs(call)
        return CallFigures(
            agent=call.agent,
            charge=self._ledger.enter(call.agent, self._prompt(call, {})),
            with_fetches=tuple(self._charges_with_fetches(call, needs)),
            needed=len(needs),
            visible=sum(need.visible for need in needs),
            reachable=sum(need.reachable for need in needs),
        )

    def messages(self) -> Iterator[MessageFigures]:
        """Yield the figures of the messages that models were shown."""
        for position, shown in sorted(_shown(self._run).items()):
            message = self._run.messages[position]
            yield MessageFigures(
                position=position,
                sender=message.sender,
                tool=message.tool if message.role is Role.TOOL else "",
                recorded=len(self._tokenize(message.text)),
                sent=len(self._tokenize(self._sent[position].text)),
                shown=shown,
                preview=" ".join(message.text[:200].split())[:60],
            )

    def _charges_with_fetches(self, call: Call, needs: Sequence[Need]) -> Iterator[Charge]:
        """Yield the call's price with what was fetched before, then once more with what it fetches itself."""
        fetched = self._fetched[call.agent]
        yield self._fetch_ledger.enter(call.agent, self._prompt(call, fetched))
        before = len(fetched)
        for need in needs:
            if need.sources and fetched.keys().isdisjoint(need.sources):
                fetched[need.sources[0]] = call.prompt[-1]
        if len(fetched) > before:
            yield self._fetch_ledger.enter(call.agent, self._prompt(call, fetched))

    def _prompt(self, call: Call, fetched: Mapping[int, int]) -> list[Tokens]:
        """Return the parts of a prompt; `fetched` says which sources stand in it, after which message."""
        parts = [self._tokenize(call.tools)]
        if self._fetch_tool and _shows_reference(self._run, call, self._sent):
            parts.append(self._tokenize(self._fetch_tool))
        for position in call.prompt:
            parts.append(self._tokenize(self._text(position, call.agent)))
            parts += [part for source, after in fetched.items() if after == position for part in self._fetch(source)]
        return parts

    def _fetch(self, source: int) -> tuple[Tokens, Tokens]:
        return (0,) * FETCH_CALL_TOKENS, self._tokenize(self._run.messages[source].text)

    def _text(self, position: int, agent: str) -> str:
        message = self._run.messages[position]
        return self._sent[position].text if is_foreign(message, agent) else message.text


def _shown(run: Run) -> Counter[int]:
    """Return the positions of the messages that a model was shown as another's words, and how often."""
    return Counter(p for call in run.calls for p in call.prompt if is_foreign(run.messages[p], call.agent))


def _shows_reference(run: Run, call: Call, sent: Mapping[int, Sent]) -> bool:
    return any(is_foreign(run.messages[p], call.agent) and sent[p].ref for p in call.prompt)


def _birth(run: Run, position: int) -> Birth:
    """Return a message with what its reader works on: the user's last words and the call that it answers."""
    message, earlier = run.messages[position], run.messages[:position]
    words = [other.text for other in earlier if other.role is Role.USER][-1:]
    call = next((other for other in reversed(earlier) if _answers(message, other)), None)
    if call is None:
        return Birth(message=message, request=" ".join(words))
    beside = sum(_is_call(other) and other.turn == call.turn and other.sender == call.sender for other in earlier)
    return Birth(message=message, request=" ".join((*words, call.text)), beside=max(beside, 1))


def _answers(result: Message, call: Message) -> bool:
    if result.role is not Role.TOOL or not call.by_model:
        return False
    return call.call_id == result.call_id if result.call_id else call.sender == result.recipient


def _is_call(message: Message) -> bool:
    return message.by_model and bool(message.tool)
