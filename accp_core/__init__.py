"""The core of accp-middleware: frames, packing and views; standard library only, no I/O, no clock."""

from accp_core.view import View, preview, read, render, render_text

__all__ = ["View", "preview", "read", "render", "render_text"]
