"""Both ways to run a graph, over the cases of a test: pairs, where the full product shows no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["alternating"]


def alternating(names: str | tuple[str, ...], cases: Iterable[Any], **options: Any) -> pytest.MarkDecorator:
    """Return the parameters `names` and `asynchronous`: the cases are run synchronously and asynchronously in turn."""
    if isinstance(names, str):
        names, cases = (names,), ((case,) for case in cases)
    rows: Sequence[Any] = [(*case, number % 2 == 1) for number, case in enumerate(cases)]
    return pytest.mark.parametrize((*names, "asynchronous"), rows, **options)
