"""The forms in which a model reads a document: compact JSON, the view, the readable view, TOON."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_adapters.evaluation.reading.documents import Document
from accp_core.ports import TokenCounter
from accp_core.projection import Repeats, Shortened
from accp_core.view import Options, render_text

__all__ = ["BASELINE", "READING_FORMS", "Form", "available_forms"]

Form: TypeAlias = Callable[[Document, TokenCounter], str]
"""Returns the text of a document in one form."""

BASELINE: Final = "json"
"""The form that the others are compared with."""


def _as_view(document: Document, counter: TokenCounter) -> str:
    return _without_repeats(document, render_text(document.source, counter=counter).text, counter)


def _as_readable_view(document: Document, counter: TokenCounter) -> str:
    return render_text(document.source, counter=counter, options=Options(readable=True)).text


def _as_toon(document: Document, counter: TokenCounter) -> str:
    from toon_format import encode

    return document.source if document.earlier else str(encode(document.value))


def _without_repeats(document: Document, text: str, counter: TokenCounter) -> str:
    repeats = Repeats()
    repeats.add(Shortened(text=document.earlier))
    return repeats.shorten([text], counter=counter)[0].text


READING_FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        BASELINE: lambda document, counter: document.source,
        "view": _as_view,
        "readable": _as_readable_view,
        "toon": _as_toon,
    }
)
"""The name of a form to what writes it."""


def available_forms() -> tuple[str, ...]:
    """Return the names of the forms whose libraries are installed."""
    return tuple(name for name in READING_FORMS if name != "toon" or importlib.util.find_spec("toon_format"))
