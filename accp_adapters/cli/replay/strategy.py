"""What is done to a tool result or another agent's message when it is born, and never again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.cli.replay.layouts import compact_json
from accp_adapters.cli.replay.recording import Message
from accp_core.ports import TokenCounter
from accp_core.view import preview, render_text

__all__ = ["AS_RECORDED", "Birth", "Sent", "Strategy", "compact", "lossless", "previewing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message as its reader gets it."""

    text: str
    ref: str = ""
    """The reference under which the whole recorded text can be fetched, empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A message that has just come into being."""

    message: Message
    request: str
    """What its reader works on: the user's words and the arguments of the call that it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A named way to rewrite what tools and other agents say."""

    name: str
    rewrite: Callable[[Birth], Sent]
    fetch_tool: str = ""
    """The definition of the tool that opens references, as compact JSON; counted in every call of an agent that
    sees a reference in its run, from its first call on."""


AS_RECORDED: Final = Strategy(name="as recorded", rewrite=lambda birth: Sent(text=birth.message.text))


def compact(counter: TokenCounter) -> Strategy:
    """Return the baseline: a text that is JSON becomes compact JSON where that has fewer tokens."""
    return Strategy(name="compact JSON", rewrite=lambda birth: Sent(text=_compact(birth.message.text, counter)))


def lossless(counter: TokenCounter) -> Strategy:
    """Return the strategy that renders every text and leaves nothing out."""
    return Strategy(
        name="lossless", rewrite=lambda birth: Sent(text=render_text(birth.message.text, counter=counter).text)
    )


def previewing(counter: TokenCounter, *, limit: int, fetch_tool: str) -> Strategy:
    """Return the strategy that shows a preview of at most `limit` tokens where the rendered text has more."""
    return Strategy(
        name="default", rewrite=_Previewing(counter=counter, limit=limit), fetch_tool=fetch_tool
    )


def _compact(text: str, counter: TokenCounter) -> str:
    try:
        shorter = compact_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return shorter if counter(shorter) < counter(text) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Previewing:
    counter: TokenCounter = field(repr=False)
    limit: int

    def __call__(self, birth: Birth) -> Sent:
        source = birth.message.text
        view = render_text(source, counter=self.counter)
        if view.tokens_after <= self.limit:
            return Sent(text=view.text)
        ref = f"$cold.{hashlib.sha256(source.encode()).hexdigest()[:12]}"
        shown = preview(source, limit=self.limit, ref=ref, counter=self.counter, request=birth.request)
        return Sent(text=shown, ref=ref) if self.counter(shown) < view.tokens_after else Sent(text=view.text)
