"""Repeat markers: what the reader has read already, replaced by its place."""

from accp_core.projection.repeats.repeats import Repeats, Shortened

__all__ = ["Repeats", "Shortened"]
