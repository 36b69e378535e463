"""The preview of a text that is too large for a prompt: what it holds, what differs in it, how to open the rest."""

from accp_core.previews.compose import is_rendered, preview, preview_without_blobs

__all__ = ["is_rendered", "preview", "preview_without_blobs"]
