"""Sizes as LangChain writes them: `("tokens", 8_000)`, `("fraction", 0.5)` of a window, `("messages", 20)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

__all__ = ["ContextSize", "Size", "read_size"]

ContextSize: TypeAlias = (
    tuple[Literal["tokens"], int] | tuple[Literal["fraction"], float] | tuple[Literal["messages"], int]
)
"""How much of a conversation: tokens, a share of the model's window, or messages."""

_FORMS: Final = {"tokens": "('tokens', 8000)", "fraction": "('fraction', 0.5)", "messages": "('messages', 20)"}


@dataclass(frozen=True, slots=True)
class Size:
    """A size whose share of a window is resolved."""

    unit: Literal["tokens", "messages"]
    amount: int


def read_size(name: str, given: Any, *, window: int | None, with_messages: bool = True) -> Size:
    """Return the size that the option `name` was given.

    Args:
        name: The option, for the error.
        given: What the caller wrote.
        window: Tokens of the model's window; None: not known.
        with_messages: Whether a number of messages is a size here.

    Raises:
        ValueError: `given` is no size, or a share of a window that is not known.
    """
    match given:
        case ("fraction", int() | float() as share) if 0 < share <= 1 and not isinstance(share, bool):
            if window is None:
                raise ValueError(f"expected a window for {name}={given!r}: Policy.for_window(200_000)")
            return Size("tokens", max(1, int(share * window)))
        case ("tokens", int(amount)) if amount >= 1 and not isinstance(amount, bool):
            return Size("tokens", amount)
        case ("messages", int(amount)) if with_messages and amount >= 1 and not isinstance(amount, bool):
            return Size("messages", amount)
    forms = [form for unit, form in _FORMS.items() if with_messages or unit != "messages"]
    raise ValueError(f"expected {name} to be like {' or '.join(forms)}, found {given!r}")
