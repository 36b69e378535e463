"""Text for a language model: a JSON value or a tool result in fewer tokens, with nothing lost."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_core.view.layout import escape_view, restore
    from accp_core.view.legend import legend_for
    from accp_core.view.notation import AS_IS
    from accp_core.view.read_value import read
    from accp_core.view.render_value import Options, render
    from accp_core.view.text import View, render_text
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_core.view.layout": "escape_view restore",
            "accp_core.view.legend": "legend_for",
            "accp_core.view.notation": "AS_IS",
            "accp_core.view.read_value": "read",
            "accp_core.view.render_value": "Options render",
            "accp_core.view.text": "View render_text",
        },
    )

__all__ = ["AS_IS", "Options", "View", "escape_view", "legend_for", "read", "render", "render_text", "restore"]
