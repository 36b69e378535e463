"""The client's side of the shim: declares the extension, gives plain results back, or views for a model."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from accp_adapters.mcp.shim.error_frames import without_frame
from accp_adapters.mcp.shim.negotiation import Declared, declare, discard_announcement, settings_in
from accp_adapters.mcp.shim.pending import Asked, Pending, fail_open
from accp_adapters.mcp.shim.protocol import LARGEST, REGISTRY_URI, Json, is_longer_than, read_part
from accp_adapters.mcp.shim.registry import learn_registry
from accp_adapters.mcp.shim.results.frames import is_framed, restore_frame
from accp_adapters.mcp.shim.results.views import Showing, is_view, restore_view, write_view
from accp_adapters.tokens import count_o200k
from accp_core.accp import BUILT_IN, SchemaRegistry
from accp_core.ports import TokenCounter

__all__ = ["Decoder", "Shown"]

Shown: TypeAlias = Literal["plain", "frame", "view"]
"""What the client sees of a result: exactly what the server said; frames as they come; texts for a model."""


class Decoder:
    """The client's side of one connection; any server will do, also one that knows nothing of frames."""

    def __init__(
        self, *, view: Shown = "plain", registry: SchemaRegistry = BUILT_IN, counter: TokenCounter = count_o200k
    ) -> None:
        """Show results as `view` says; `registry` is what the client knows, `counter` counts what its model reads.

        Raises: ValueError: `view` is none of the three.
        """
        if view not in get_args(Shown):
            raise ValueError(f"expected view to be one of {', '.join(map(repr, get_args(Shown)))}, got {view!r}")
        self.view: Final = view
        self.registry = registry
        """What is known of schemas; reading the resource `accp://registry` adds what the server has besides."""
        self.announced: str | None = None
        """The hash of the server's registry, as it announced it; None for a server that did not."""
        self._counter: Final = counter
        self._pending: Final = Pending()
        self._declared: Final = Declared(restores=True, columns=True, listed=view != "plain", registry=registry.hash)

    @property
    def agrees(self) -> bool:
        """Whether both ends have one registry; else a client that wants it reads `accp://registry`."""
        return self.announced is not None and self.registry.matches(self.announced)

    def c2s(self, message: Json) -> Json:
        """Return a client's message with the extension declared, where the message has a place for it."""
        return fail_open(self._heard, message)

    def s2c(self, message: Json) -> Json:
        """Return a server's message as the client is to see it."""
        return fail_open(self._said, message)

    def _heard(self, message: Json) -> Json:
        if message.get("method") == "tools/call":
            self._pending.add(message, Asked.of(message, declared=None, is_modern=False))
        elif message.get("method") == "notifications/cancelled":
            self._pending.cancel(message.get("params"))
        return declare(message, self._declared)

    def _said(self, message: Json) -> Json:
        if "method" in message:
            return message
        asked, result = self._pending.pop(message), message.get("result")
        if isinstance(message.get("error"), dict):
            error = without_frame(message["error"], "data") if self.view == "plain" else message["error"]
            return message if error is message["error"] else {**message, "error": error}
        if not isinstance(result, dict):
            return message
        seen = self._plain(result)
        if self.view == "view" and asked is not None:
            seen = self._shown(seen)
        return message if seen is result else {**message, "result": seen}

    def _plain(self, result: Json) -> Json:
        """Return a result without what an encoder put in it."""
        if is_framed(result):
            return _with_structured(result) if self.view == "frame" else restore_frame(result)
        if is_view(result):
            return restore_view(result) if self.view == "plain" else result
        settings = settings_in(result.get("capabilities"))
        if settings is not None:
            self.announced = str(settings["registry"]["hash"])
            return discard_announcement(result, self.announced)
        self._learn(result.get("contents"))
        return without_frame(result, "_meta") if self.view == "plain" else result

    def _learn(self, contents: object) -> None:
        """Learn from the server's registry, where that was read."""
        for each in contents if isinstance(contents, list) else ():
            if isinstance(each, dict) and each.get("uri") == REGISTRY_URI:
                self.registry = learn_registry(self.registry, each["text"])

    def _shown(self, result: Json) -> Json:
        """Return a tool's result as a model reads it; `structuredContent` stays for programs."""
        if result.get("isError") or is_longer_than(result, LARGEST):
            return result
        if result.get("resultType", "complete") != "complete":
            return result
        # A text that cannot be restored is shown as it is: the frame was decoded all the same.
        try:
            shown = write_view(result, Showing(counter=self._counter))
        except (ValueError, RecursionError):
            return result
        gains = shown is not None and self._counter(read_part(shown)) < self._counter(read_part(result))
        return shown if shown is not None and gains else result


def _with_structured(result: Json) -> Json:
    """Return a framed result with the `structuredContent` that clients of an SDK check and programs read."""
    plain = restore_frame(result)
    return {**result, "structuredContent": plain["structuredContent"]} if "structuredContent" in plain else result
