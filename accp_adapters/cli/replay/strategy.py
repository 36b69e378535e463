"""What is done to a tool result or another agent's message when it is born, and never again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from accp_adapters.cli.replay.layouts import compact_json
from accp_adapters.cli.replay.recording import Message
from accp_core.ports import TokenCounter
from accp_core.view import preview, render_text

__all__ = ["AS_RECORDED", "Birth", "Limits", "Sent", "Strategy", "compact", "lossless", "previewing"]


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
    request: str = ""
    """What its reader works on: the user's last words and the arguments of the call that it answers."""
    beside: int = 1
    """How many results the model turn that asked for it will have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A named way to rewrite what tools and other agents say."""

    name: str
    rewrite: Callable[[Birth], Sent]
    fetch_tool: str = ""
    """The definition of the tool that opens references, as compact JSON; empty: none is ever needed. A prompt
    with a reference pays for it; where it first appears, among the tools, it breaks the cached prefix once."""


class Limits(Protocol):
    """What one result may take, in tokens; `accp_adapters.langgraph.policy.Limits` is one."""

    @property
    def inline(self) -> int | None:
        """A view of more tokens is previewed; None: never."""

    @property
    def preview(self) -> int:
        """At most this many tokens of a preview."""


AS_RECORDED: Final = Strategy(name="as recorded", rewrite=lambda birth: Sent(text=birth.message.text))


def compact(counter: TokenCounter) -> Strategy:
    """Return the baseline: a text that is JSON becomes compact JSON where that has fewer tokens."""
    return Strategy(name="compact JSON", rewrite=lambda birth: Sent(text=_compact(birth.message.text, counter)))


def lossless(counter: TokenCounter) -> Strategy:
    """Return the strategy that renders every text and leaves nothing out."""
    return Strategy(
        name="lossless",
        rewrite=lambda birth: Sent(text=render_text(birth.message.text, counter=counter).text),
    )


def previewing(
    counter: TokenCounter,
    *,
    limits: Callable[[int], Limits],
    fetch_tool: str,
) -> Strategy:
    """Return the strategy that shows a preview where the rendered text is too long.

    Args:
        counter: Counts the tokens of the model in use.
        limits: What each of so many results of one model turn may take.
        fetch_tool: The definition of the tool that opens references, as compact JSON.
    """
    return Strategy(
        name="default",
        rewrite=lambda birth: _preview(birth, counter, limits(birth.beside)),
        fetch_tool=fetch_tool,
    )


def _compact(text: str, counter: TokenCounter) -> str:
    try:
        shorter = compact_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return shorter if counter(shorter) < counter(text) else text


def _preview(birth: Birth, counter: TokenCounter, limits: Limits) -> Sent:
    source = birth.message.text
    view = render_text(source, counter=counter)
    if limits.inline is None or view.tokens_after <= limits.inline:
        return Sent(text=view.text)
    key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    ref = f"$cold.{key}"
    shown = preview(source, limit=limits.preview, ref=ref, counter=counter, request=birth.request)
    return Sent(text=shown, ref=ref) if counter(shown) < view.tokens_after else Sent(text=view.text)
