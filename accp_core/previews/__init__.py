"""The preview of a text that is too large for a prompt: what it holds, what differs in it, how to open the rest."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_core.previews.composition import is_rendered, preview, preview_without_blobs
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_core.previews.composition": "is_rendered preview preview_without_blobs",
        },
    )

__all__ = ["is_rendered", "preview", "preview_without_blobs"]
