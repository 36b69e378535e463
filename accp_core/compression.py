"""How a text becomes what a model reads: a view, or a preview and the reference to the rest.

Every adapter calls `compress`, so that a result means the same in a LangGraph state, an MCP result and an A2A task.
What is shown never takes more tokens than the text. Nothing is stored here: an adapter puts `Compressed.stored` into
the store of its session before it shows a preview, and says by `open_with` how a model opens a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.ports import TokenCounter
from accp_core.references import StoredText
from accp_core.view import View, preview, render_text
from accp_core.view.layout import AS_IS

__all__ = [
    "MIN_PREVIEW", "Compressed", "ResultLimits", "abridge", "compress", "share_limits", "show_preview", "show_view",
]  # fmt: skip

MIN_PREVIEW: Final = 60
"""Tokens; a smaller preview would show nothing but its reference."""
_MAX_ABRIDGED: Final = 200_000
"""Characters of a text that an abstract is made of."""
_HALVINGS: Final = 4
"""How often an abstract is tried with half the tokens: a token of blanks may have a hundred characters."""
_REFERENCE_ROOM: Final = 100
"""Characters that an abstract keeps for its reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLimits:
    """What a result may take of what a model reads, in tokens."""

    inline: int | None = 3_000
    """A view of more tokens becomes a preview; None: never."""
    preview: int = 2_000
    """What a preview may take, at least 60."""
    fetch: int = 4_000
    """What one answer to the query of a reference may take."""
    abstract: int = 200
    """What the result of one item may take in an AgentContext, at least 60; a longer one is stored and cited."""
    previewed_chars: int | None = None
    """Characters of a text that a preview is made of, which bounds its time; None: all."""

    def __post_init__(self) -> None:
        """Refuse limits that leave no room for anything (ValueError)."""
        least = {"inline": 1, "preview": MIN_PREVIEW, "fetch": 1, "abstract": MIN_PREVIEW, "previewed_chars": 1}
        for name, tokens in least.items():
            value = getattr(self, name)
            if value is not None and value < tokens:
                raise ValueError(f"expected the limit {name!r} to be at least {tokens}, found {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """A text as a model is shown it."""

    text: str
    """What is shown."""
    layout: str | None
    """Leads from a view back to the source (`View.restore`); None for a preview."""
    stored: StoredText | None
    """What must be in the store before a preview is shown; None for a view."""
    tokens_before: int
    """Tokens of the source."""
    tokens_after: int
    """Tokens of `text`, never more than before."""

    @property
    def reference(self) -> str | None:
        """The reference "$cold.…" that a preview cites; None for a view."""
        return self.stored.reference if self.stored else None

    @property
    def is_smaller(self) -> bool:
        """Whether anything was saved."""
        return self.tokens_after < self.tokens_before

    def restore(self, stored: str | None = None) -> str:
        """Return the source, byte for byte: from a view by its layout, from a preview the text that was `stored`.

        Raises:
            ValueError: this is a preview, and no stored text was given.
        """
        if self.layout is not None:
            return View(text=self.text, layout=self.layout, tokens_before=0, tokens_after=0).restore()
        if stored is None:
            raise ValueError(f"expected the stored text of {self.reference!r}, found none")
        return stored


def compress(
    text: str, *, limits: ResultLimits, counter: TokenCounter, request: str = "", open_with: str = ""
) -> Compressed:
    """Return `text` as a model is to read it: as it is, as a view, or as a preview with a reference.

    The same arguments give the same result, in every process.

    Args:
        text: The result of a tool or the words of another agent.
        limits: When a view becomes a preview, and how long that may be.
        counter: Counts the tokens of the model.
        request: What the reader works on (the user's words, the arguments of the call); ranks what a preview keeps.
        open_with: The name of the tool that opens a reference, such as "accp_fetch"; empty: no tool is named.
    """
    view = show_view(text, counter=counter)
    if limits.inline is None or view.tokens_after <= limits.inline:
        return view
    return show_preview(
        text, limits.preview, view=view, chars=limits.previewed_chars, counter=counter, request=request,
        open_with=open_with,
    ) or view  # fmt: skip


def show_view(text: str, *, counter: TokenCounter) -> Compressed:
    """Return `text` as its view, or as it is where a view has no fewer tokens."""
    view = render_text(text, counter=counter)
    if view.tokens_after >= view.tokens_before:
        view = View(text=text, layout=AS_IS, tokens_before=view.tokens_before, tokens_after=view.tokens_before)
    return Compressed(
        text=view.text,
        layout=view.layout,
        stored=None,
        tokens_before=view.tokens_before,
        tokens_after=view.tokens_after,
    )


def show_preview(
    text: str,
    limit: int,
    *,
    counter: TokenCounter,
    view: Compressed | None = None,
    chars: int | None = None,
    request: str = "",
    open_with: str = "",
) -> Compressed | None:
    """Return a preview of `text` in at most `limit` tokens, None where it would not be smaller than its view.

    Args:
        text: The whole text.
        limit: Tokens, at least MIN_PREVIEW.
        counter: Counts the tokens of the model.
        view: What `show_view` gave for `text`, where the caller has it.
        chars: How many characters of `text` are looked at; None: all.
        request: As in `compress`.
        open_with: As in `compress`.
    """
    stored = StoredText.of(text)
    head = text if chars is None else text[:chars]
    known = None
    if view is not None and view.layout is not None and len(head) == len(text):
        known = View(
            text=view.text, layout=view.layout, tokens_before=view.tokens_before, tokens_after=view.tokens_after
        )
    opening = f"{open_with} {stored.reference}".strip()
    shown = preview(head, limit=limit, opening=opening, counter=counter, request=request, view=known)
    before = view.tokens_before if view else counter(text)
    after = counter(shown)
    if after >= (view.tokens_after if view else before):
        return None
    return Compressed(text=shown, layout=None, stored=stored, tokens_before=before, tokens_after=after)


def abridge(text: str, *, limit: int, max_chars: int, counter: TokenCounter, open_with: str = "") -> Compressed:
    """Return the abstract of a result: the text itself where it fits, else a preview that fits.

    Args:
        text: The whole result.
        limit: Tokens of the abstract, at least MIN_PREVIEW.
        max_chars: Characters of the abstract.
        counter: Counts the tokens of the model.
        open_with: As in `compress`.
    """
    before = counter(text)
    if before <= limit and len(text) <= max_chars:
        return Compressed(text=text, layout=AS_IS, stored=None, tokens_before=before, tokens_after=before)
    stored = StoredText.of(text)
    opening = f"{open_with} {stored.reference}".strip()
    shown = ""
    for halving in range(_HALVINGS):
        room = max(limit >> halving, MIN_PREVIEW)
        shown = preview(text[:_MAX_ABRIDGED], limit=room, opening=opening, counter=counter)
        if len(shown) <= max_chars:
            break
    else:
        shown = f"{stored.reference} {shown[: max_chars - _REFERENCE_ROOM]}"
    return Compressed(text=shown, layout=None, stored=stored, tokens_before=before, tokens_after=counter(shown))


def share_limits(sizes: Sequence[int], limits: ResultLimits) -> list[int | None]:
    """Return what the preview of each block of one result may take, None for blocks that are shown as views.

    The blocks share `limits.inline`: small ones keep their size, large ones get equal parts.

    Args:
        sizes: Tokens of the view of each block.
        limits: Those of the whole result.
    """
    if limits.inline is None:
        return [None] * len(sizes)
    budgets = _allot(sizes, limits.inline)
    is_over = [size > budget for size, budget in zip(sizes, budgets, strict=True)]
    least = max(limits.preview // max(sum(is_over), 1), MIN_PREVIEW)
    return [
        min(limits.preview, max(budget, least)) if over else None for budget, over in zip(budgets, is_over, strict=True)
    ]


def _allot(sizes: Sequence[int], budget: int) -> list[int]:
    """Share `budget` so that small sizes are met and large ones get equal parts."""
    shares = [0] * len(sizes)
    left = budget
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[index] = left // (len(sizes) - rank)
        left -= min(shares[index], sizes[index])
    return shares
