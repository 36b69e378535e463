"""The client's side of the shim: it declares the extension and restores plain results, or shows views for a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeAlias, get_args

from accp_adapters.mcp import frames as mcp_frames
from accp_adapters.mcp import messages, negotiation
from accp_adapters.mcp.hosts import shown_text
from accp_adapters.mcp.messages import MAX_RESULT_CHARS, REGISTRY_URI, JsonObject, find_duplicate, unchanged_on_error
from accp_adapters.mcp.resources import framed_contents, read_foreign_contents, restore_contents
from accp_adapters.mcp.sessions import OpenRequest, OpenRequests
from accp_adapters.mcp.views import ViewSettings, has_escapes, is_view, restore_view, write_view
from accp_adapters.serving.threads import size_of
from accp_adapters.tokens import count_o200k
from accp_adapters.wire_log import log_frame
from accp_core.accp import BUILT_IN, SchemaRegistry
from accp_core.accp.debug import Direction
from accp_core.compression import ResultLimits
from accp_core.ports import TokenCounter

__all__ = ["DecodedForm", "Decoder", "ViewInterceptor"]

DecodedForm: TypeAlias = Literal["plain", "frame", "view"]
"""What the client gets of a result: exactly what the server sent; frames as they are; views for a model."""


class Decoder:
    """The client's side of one connection to any server, also one that does not know the extension."""

    def __init__(
        self, *, view: DecodedForm = "plain", registry: SchemaRegistry = BUILT_IN, counter: TokenCounter = count_o200k
    ) -> None:
        """Give the client results in the form `view`.

        Args:
            view: "plain", "frame" or "view".
            registry: The client's schema registry.
            counter: Counts the tokens of the client's model.

        Raises:
            ValueError: `view` is none of the three.
        """
        if view not in get_args(DecodedForm):
            expected = ", ".join(map(repr, get_args(DecodedForm)))
            raise ValueError(f"expected 'view' to be one of {expected}, found {view!r}")
        self.view: Final = view
        self.registry = registry
        """The known schemas; reading the resource `accp://registry` adds those of the server."""
        self._counter: Final = counter
        self._pending: Final = OpenRequests()
        self._settings: Final = negotiation.ClientSettings(
            restores=True, listed=view != "plain", registry=registry.hash
        )

    def from_client(self, message: JsonObject) -> JsonObject:
        """Return a client's message for the server, with the extension declared where the message can hold it."""
        return unchanged_on_error(self._from_client, message)

    def from_server(self, message: JsonObject) -> JsonObject:
        """Return a server's message for the client, with results in the chosen form."""
        return unchanged_on_error(self._from_server, message)

    def _from_client(self, message: JsonObject) -> JsonObject:
        if message.get("method") == "tools/call":
            self._pending.add(message, OpenRequest.of(message, client_settings=None, is_modern=False))
        elif message.get("method") == "notifications/cancelled":
            self._pending.cancel(message.get("params"))
        return negotiation.declare_extension(message, self._settings)

    def _from_server(self, message: JsonObject) -> JsonObject:
        if "method" in message:
            return message
        request, result = self._pending.pop(message), message.get("result")
        if isinstance(message.get("error"), dict):
            error = message["error"] if self.view == "frame" else _read_error(message["error"])
            return message if error is message["error"] else {**message, "error": error}
        if not isinstance(result, dict):
            return message
        decoded = self._decode(result)
        if self.view == "view" and request is not None:
            decoded = self._show_view(decoded)
        return message if decoded is result else {**message, "result": decoded}

    def _decode(self, result: JsonObject) -> JsonObject:
        """Return a result without what an encoder added, as far as the chosen form wants that."""
        if mcp_frames.is_framed(result):
            log_frame(Direction.RECEIVED, "mcp", mcp_frames.framed_text(result))
            return _with_structured(result) if self.view == "frame" else mcp_frames.restore_frame(result)
        if frames := framed_contents(result):
            for text in frames:
                log_frame(Direction.RECEIVED, "mcp", text)
            return result if self.view == "frame" else restore_contents(result)
        if is_view(result):
            return restore_view(result) if self.view == "plain" else result
        capability = negotiation.find_capability(result.get("capabilities"))
        if capability is not None:
            return negotiation.remove_announcement(result, str(capability["registry"]["hash"]))
        self._learn_registry(result.get("contents"))
        plain = mcp_frames.remove_error_frame(result, "_meta") if self.view == "plain" else result
        return plain if self.view == "frame" else read_foreign_contents(mcp_frames.read_foreign_frames(plain))

    def _learn_registry(self, contents: object) -> None:
        """Add the schemas of the server's registry, if `contents` of resources/read hold it."""
        for content in contents if isinstance(contents, list) else ():
            if isinstance(content, dict) and content.get("uri") == REGISTRY_URI:
                self.registry = negotiation.merge_registry(self.registry, content["text"])

    def _show_view(self, result: JsonObject) -> JsonObject:
        """Return the result of a tool as a model reads it; `structuredContent` stays for programs."""
        if size_of(result, MAX_RESULT_CHARS) > MAX_RESULT_CHARS:
            return result
        if result.get("resultType", "complete") != "complete":
            return result
        plain = result if is_view(result) else mcp_frames.remove_error_frame(result, "_meta")
        # A result that cannot be shown as a view must not undo the decoding of its frame.
        try:
            shown = write_view(plain, ViewSettings(counter=self._counter, limits=ResultLimits(inline=None)))
            gains = shown is not None and self._counter(shown_text(shown)) < self._counter(shown_text(result))
        except (ValueError, RecursionError):
            return result
        is_wanted = shown is not None and (gains or has_escapes(shown))
        return messages.extend_metadata(shown, messages.read_metadata(result)) if shown and is_wanted else result


def _with_structured(result: JsonObject) -> JsonObject:
    """Return a framed result with the `structuredContent` that SDK clients check and programs read."""
    plain = mcp_frames.restore_frame(result)
    return {**result, "structuredContent": plain["structuredContent"]} if "structuredContent" in plain else result


def _read_error(error: JsonObject) -> JsonObject:
    """Return an error as the server meant it: without our frame, and with a frame of others in its data as JSON."""
    plain = mcp_frames.remove_error_frame(error, "data")
    payload = mcp_frames.foreign_payload(plain["data"]) if isinstance(plain.get("data"), dict) else None
    return plain if payload is None else {**plain, "data": payload}


class ViewInterceptor:
    """`MultiServerMCPClient(…, tool_interceptors=[ViewInterceptor()])`: tool results as views, from any server.

    It also reads the views of a server with `policy="always"`. It cannot negotiate; `wrap_transport` can.
    """

    def __init__(self, *, counter: TokenCounter = count_o200k) -> None:
        """Count the tokens of the agent's model with `counter`."""
        self._counter: Final = counter

    async def __call__(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the tool's result as a model reads it; its JSON value is `artifact["structured_content"]`."""
        result = await handler(request)
        if not hasattr(result, "structuredContent"):
            return result  # a ToolMessage or Command of another interceptor
        decoder = Decoder(counter=self._counter)
        sent = result.model_dump(by_alias=True, mode="json", exclude_unset=True)
        plain = unchanged_on_error(decoder._decode, sent)
        return type(result).model_validate(unchanged_on_error(decoder._show_view, _with_value(plain)))


def _with_value(result: JsonObject) -> JsonObject:
    """Return a result with the value of its JSON text as `structuredContent`, if the server sent only the text."""
    found = None if result.get("isError") or "structuredContent" in result else find_duplicate(result)
    if found is None:
        return result
    value = found[1]
    return {**result, "structuredContent": value if isinstance(value, dict) else {"result": value}}
