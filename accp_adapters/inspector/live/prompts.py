"""The prompts of a run as recorded and as a policy projects them, with the tokens of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from accp_adapters.inspector.page.bars import Bar, make_bar, tokens_of
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay import RecordedCall, RecordedMessage, Run, SentMessage, StrategyName
from accp_adapters.replay.contents.kinds import Contents, contents_of, kind_of
from accp_adapters.replay.contents.largest_texts import beginning_of
from accp_adapters.replay.contents.secrets import secrets_in
from accp_adapters.replay.prompts import PromptBuilder, SentPrompt
from accp_adapters.replay.strategies import to_strategy
from accp_adapters.tokens import count_o200k

__all__ = ["MAX_CALLS", "PromptPart", "PromptRow", "ShownProjection", "count_tokens", "totals", "warm_up"]

MAX_CALLS: Final = 300
"""Model calls of a run that are projected."""
_MAX_PARTS: Final = 200
_MAX_CHARS: Final = 4_000
"""Characters of a part that a page shows."""
_MAX_NAME: Final = 60


@lru_cache(maxsize=8_192)
def count_tokens(text: str) -> int:
    """Return the tokens of a text in o200k_base."""
    return count_o200k(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """One model call in the list of calls."""

    number: int
    """Its place in the run, from 0."""
    agent: str
    """Who made it."""
    before: int
    """Tokens of its prompt as recorded."""
    after: int
    """Tokens as projected."""
    bars: tuple[Bar, Bar]
    """What it holds as recorded and as projected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """One part of a prompt."""

    position: int | None
    """Its message in the run; None: tool definitions."""
    sender: str
    """Who it is from; empty: it has no sender."""
    kind: str
    """What it is, a key of `SEGMENT_KINDS`."""
    before: int
    """Tokens as recorded."""
    after: int
    """Tokens as projected."""
    recorded: str
    """Its beginning as recorded, without secrets."""
    sent: str
    """Its beginning as projected; equal to `recorded` where nothing is changed."""
    cut: bool
    """Whether there is more of it."""


class ShownProjection:
    """What the models of one run are sent under one policy."""

    def __init__(self, run: Run, policy: StrategyName) -> None:
        """Project the first calls of `run`."""
        self.run: Final = run
        self.policy: Final = policy
        self._calls: Final = run.calls[:MAX_CALLS]
        builder = PromptBuilder(run, to_strategy(policy))
        self._sent: Final = [builder.build(call) for call in self._calls]

    @property
    def references(self) -> Mapping[str, int]:
        """The references that prompts cite, and the message that each of them opens."""
        return {
            message.reference: position
            for sent in self._sent
            for position, message in sent.messages.items()
            if message.reference
        }

    def sent(self, position: int) -> str | None:
        """Return a message in the form in which a model is sent it first, None where none is."""
        return next((sent.messages[position].text for sent in self._sent if position in sent.messages), None)

    def calls_with(self, position: int) -> list[int]:
        """Return the first calls that were sent a message."""
        return [number for number, sent in enumerate(self._sent) if position in sent.messages][:20]

    def rows(self) -> list[PromptRow]:
        """Return the calls, for a list of them."""
        pairs = [self._contents(number) for number in range(len(self._calls))]
        longest = max((tokens_of(contents) for pair in pairs for contents in pair), default=0)
        return [
            PromptRow(
                number=number,
                agent=shorten(self._calls[number].agent, _MAX_NAME),
                before=tokens_of(pair[0]),
                after=tokens_of(pair[1]),
                bars=(make_bar(pair[0], 0, longest), make_bar(pair[1], 0, longest)),
            )
            for number, pair in enumerate(pairs)
        ]

    def parts(self, number: int) -> tuple[list[PromptPart], int]:
        """Return the parts of a prompt, and how many at its beginning are left out."""
        call, sent = self._calls[number], self._sent[number]
        first = max(len(call.prompt) - _MAX_PARTS, 0)
        parts = [self._part(position, call, sent.messages[position]) for position in call.prompt[first:]]
        definitions = self._definitions(call, sent)
        return ([definitions, *parts] if definitions.after else parts), first

    def _part(self, position: int, call: RecordedCall, sent: SentMessage) -> PromptPart:
        message = self.run.messages[position]
        secrets = secrets_in(message.text)
        return PromptPart(
            position=position,
            sender=shorten(_label(message), _MAX_NAME),
            kind=kind_of(message, call.agent),
            before=count_tokens(message.text),
            after=count_tokens(sent.text),
            recorded=beginning_of(message.text, secrets, _MAX_CHARS),
            sent=beginning_of(sent.text, secrets, _MAX_CHARS),
            cut=max(len(message.text), len(sent.text)) > _MAX_CHARS,
        )

    def _definitions(self, call: RecordedCall, sent: SentPrompt) -> PromptPart:
        tools, after = call.tools, "\n".join(sent.definitions)
        return PromptPart(
            position=None,
            sender="",
            kind="tools",
            before=count_tokens(tools),
            after=sum(map(count_tokens, sent.definitions)),
            recorded=beginning_of(tools, frozenset(), _MAX_CHARS),
            sent=beginning_of(after, frozenset(), _MAX_CHARS),
            cut=len(after) > _MAX_CHARS,
        )

    def _contents(self, number: int) -> tuple[Contents, Contents]:
        call, sent = self._calls[number], self._sent[number]
        recorded = {position: SentMessage(text=self.run.messages[position].text) for position in call.prompt}
        return (
            contents_of(self.run, call, recorded, count_tokens(call.tools), count_tokens),
            contents_of(self.run, call, sent.messages, sum(map(count_tokens, sent.definitions)), count_tokens),
        )


def _label(message: RecordedMessage) -> str:
    if not message.tool:
        return message.sender
    return f"{message.sender} calls {message.tool}" if message.by_model else f"result of {message.tool}"


def totals(rows: Sequence[PromptRow]) -> tuple[int, int]:
    """Return the tokens of all calls as recorded and as projected."""
    return sum(row.before for row in rows), sum(row.after for row in rows)


def warm_up(policy: StrategyName) -> None:
    """Load what the first projection needs, so that no reader waits for it."""
    count_tokens("")
    to_strategy(policy)
