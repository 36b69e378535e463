"""STUB of the first hour."""

from __future__ import annotations

import json
from dataclasses import dataclass

from accp_core.ports import TokenCounter
from accp_core.view.render import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A tool result as a model reads it, and what is needed to rebuild the source byte for byte."""

    text: str
    """What the model reads."""
    layout: str
    """How the source was written, a short code such as "json-compact"; `text` and `layout` give the source back."""
    tokens_before: int
    """Tokens of the source."""
    tokens_after: int
    """Tokens of `text`, never more than `tokens_before`."""

    def restore(self) -> str:
        """Return the source text, byte for byte."""
        return self.text if self.layout == "as-is" else json.dumps(json.loads(self.text))


def render_text(source: str, *, counter: TokenCounter, options: Options | None = None) -> View:
    """Return the view of a tool result given as text, never with more tokens than the text itself."""
    before = counter(source)
    try:
        value = json.loads(source)
        if json.dumps(value) != source:
            raise ValueError(source)
    except ValueError:
        return View(text=source, layout="as-is", tokens_before=before, tokens_after=before)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return View(text=text, layout="json-default", tokens_before=before, tokens_after=counter(text))
