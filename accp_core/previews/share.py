"""How parts of a preview share its room."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["share"]


def share(sizes: Sequence[float], total: float) -> list[float]:
    """Return parts of `total`: the smallest sizes are met first, what they leave goes to the larger ones equally."""
    parts = [0.0] * len(sizes)
    left = total
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        parts[index] = left / (len(sizes) - rank)
        left -= min(parts[index], sizes[index])
    return parts
