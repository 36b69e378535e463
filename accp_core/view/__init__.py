"""Text for a language model: a JSON value or a tool result in fewer tokens, with nothing lost."""

from accp_core.view.layout import escape_view, restore
from accp_core.view.notation import AS_IS, legend_for
from accp_core.view.read_value import read
from accp_core.view.render_value import Options, render
from accp_core.view.text import View, render_text

__all__ = ["AS_IS", "Options", "View", "escape_view", "legend_for", "read", "render", "render_text", "restore"]
