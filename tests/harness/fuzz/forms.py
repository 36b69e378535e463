"""A table in any form that programs write comes back from its view, whatever its cells are, also a damaged one."""

from collections.abc import Iterator
from typing import Any

from accp_core import render_text
from accp_core.documents import Value, read
from accp_core.packing.expansion import Expansion
from tests.harness.fuzz.values import value_of
from tests.harness.fuzz.view import count
from tests.written_forms import WRITERS

__all__ = ["check"]

_FORMS = tuple(WRITERS.values())
_NAMES = ("id", "name", "total", "at", "note")


def check(data: bytes) -> None:
    """Check the invariant for one input: its first bytes choose the form, the shape and the damage."""
    form, shape, at, removed, *_ = data.ljust(4, b"\0")
    text = _FORMS[form % len(_FORMS)](rows_of(data[4:], 1 + shape % len(_NAMES), 2 + shape // 32))
    if at:
        text = text[: at * 3] + text[at * 3 + removed % 5 :]
    if removed > 200:
        text = f"Some words before it.\n{text}\n\nand behind.\n"
    view = render_text(text, counter=count)
    assert view.restore() == text
    assert view.tokens_after <= view.tokens_before
    for part in read(text).values():
        if isinstance(part, Value) and part.how is not None and not part.is_cut:
            assert part.form.write(part.value, part.how, Expansion(len(part.written))) == part.written


def rows_of(data: bytes, columns: int, size: int) -> list[dict[str, Any]]:
    """Return rows with the scalars that `data` stands for, again and again."""
    cells = list(_scalars(value_of(data)))
    return [
        {name: cells[(row * columns + column) % len(cells)] for column, name in enumerate(_NAMES[:columns])}
        for row in range(size)
    ]


def _scalars(value: Any) -> Iterator[Any]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        yield from _scalars(member)
    if not members:
        yield None if isinstance(value, (dict, list)) else value
