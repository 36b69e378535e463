"""The texts of a run's largest messages, as recorded and as a model is sent them: cut to a bound, without secrets."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from accp_adapters.replay.contents.named_lines import NamedLines, find_named_lines
from accp_adapters.replay.contents.secrets import hide_secrets, secrets_in
from accp_adapters.replay.recorded_run import RecordedMessage

__all__ = ["MAX_LARGEST_CHARS", "MAX_LARGEST_TEXTS", "LargestTexts", "ShownText", "beginning_of", "largest_of"]

MAX_LARGEST_TEXTS: Final = 10
"""Messages whose texts are kept."""
MAX_LARGEST_CHARS: Final = 8_000
"""Characters of a text that are kept."""
_MAX_NAMED_CHARS: Final = 500
_LONGEST_SECRET: Final = 500
"""Characters behind a cut that are looked at, so that no secret is cut in two and shown by half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """One of the largest messages of a tool or another agent, as recorded and as a model is sent it."""

    run: str
    """The name of its run."""
    position: int
    """Its position in the run."""
    sender: str
    """The tool or agent that it comes from."""
    recorded_tokens: int
    """Tokens as recorded."""
    sent_tokens: int
    """Tokens as sent."""
    recorded: str
    """Its beginning as recorded."""
    recorded_chars: int
    """Characters of the whole text."""
    sent: str
    """Its beginning as sent."""
    sent_chars: int
    """Characters of the whole text."""
    named: tuple[NamedLines, ...] = ()
    """The repeat markers in `sent`, and the beginning of what each names."""


def largest_of(texts: Sequence[ShownText]) -> list[ShownText]:
    """Return those of `texts` with the most tokens as recorded, the largest first."""
    return heapq.nsmallest(MAX_LARGEST_TEXTS, texts, key=lambda text: -text.recorded_tokens)


class LargestTexts:
    """Keeps the largest messages of one run; all others are dropped at once."""

    def __init__(self, run: str) -> None:
        """Begin with none; `run` is the name of the run."""
        self._run: Final = run
        self.texts: list[ShownText] = []
        """The largest messages so far, the largest first."""

    def wants(self, tokens: int) -> bool:
        """Return whether a message with so many tokens as recorded is one of the largest so far."""
        return len(self.texts) < MAX_LARGEST_TEXTS or tokens > self.texts[-1].recorded_tokens

    def add(
        self,
        message: RecordedMessage,
        text: str,
        tokens: tuple[int, int],
        *,
        position: int,
        above: Sequence[tuple[int, str]],
    ) -> None:
        """Add a message in the form in which a model is sent it first.

        Args:
            message: The message as recorded.
            text: Its text as sent.
            tokens: Its tokens as recorded and as sent.
            position: Its position in the run.
            above: Position and text of each message before it in the prompt, as sent.
        """
        secrets = secrets_in(message.text)
        sent = beginning_of(text, secrets, MAX_LARGEST_CHARS)
        named = (
            replace(each, text=beginning_of(each.text, secrets, _MAX_NAMED_CHARS))
            for each in find_named_lines(sent, position, above)
        )
        shown = ShownText(
            run=self._run,
            position=position,
            sender=message.tool or message.sender,
            recorded_tokens=tokens[0],
            sent_tokens=tokens[1],
            recorded=beginning_of(message.text, secrets, MAX_LARGEST_CHARS),
            recorded_chars=len(message.text),
            sent=sent,
            sent_chars=len(text),
            named=tuple(named),
        )
        self.texts = largest_of([*self.texts, shown])


def beginning_of(text: str, secrets: frozenset[str], limit: int) -> str:
    """Return the first `limit` characters of `text` without its own secrets and those that are known."""
    return hide_secrets(text[: limit + _LONGEST_SECRET], secrets)[:limit]
