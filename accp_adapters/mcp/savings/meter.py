"""Counts what a relay rewrites, in a thread of its own, so that no message waits for its count.

The tokens are those of the form that the host shows its model; where the host is unknown, of the texts.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from accp_adapters.mcp.savings.counts import Counts
from accp_adapters.mcp.savings.ledger import Ledger
from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.hosts import ShownForm, host_named, shown_text
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["Meter", "metered_relay"]

_LOG: Final = logging.getLogger(__name__)
_MAX_WAITING: Final = 256
"""Messages that wait for their count; further ones are not counted."""
_FLUSH_SECONDS: Final = 30.0
_CLOSE_SECONDS: Final = 5.0


def _shown_of(message: JsonObject | None, form: ShownForm) -> tuple[str, str]:
    """Return the kind of a response, and the text that a model is shown of it; both are empty for an error."""
    result = (message or {}).get("result")
    return _shown(result, form) if isinstance(result, dict) else ("", "")


def _shown(result: JsonObject, form: ShownForm) -> tuple[str, str]:
    """Return the kind of a result ("results", "definitions" or none), and the text that a model is shown of it."""
    if isinstance(result.get("content"), list):
        return "results", shown_text(result, form)
    if isinstance(result.get("contents"), list):
        return "results", compact_json([part.get("text") for part in result["contents"]])
    if isinstance(result.get("tools"), list):
        return "definitions", compact_json(result["tools"])
    return "", ""


class Meter:
    """The counts of one proxy, and where they are kept."""

    def __init__(self, server: str, counter: TokenCounter, ledger: Ledger | None = None) -> None:
        """Count for a server.

        Args:
            server: Its name.
            counter: Counts the tokens of a text.
            ledger: Where counts are added, every half a minute and at the end; None: nowhere.
        """
        self.server: Final = server
        self._counter = counter
        self._ledger = ledger
        self._waiting: queue.Queue[Callable[[], Mapping[str, Counts]] | None] = queue.Queue(_MAX_WAITING)
        self._totals: dict[str, Counts] = {}
        self._kept: dict[str, Counts] = {}
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def see(self, before: JsonObject | None, after: JsonObject | None, form: ShownForm = "text") -> None:
        """Count a message.

        Args:
            before: As the server sent it; None: it is our own.
            after: As the client gets it; None: it is an interim result, which the client does not get.
            form: What its host shows a model.
        """
        try:
            self._waiting.put_nowait(lambda: self._counts(before, after, form))
        except queue.Full:
            _LOG.debug("a message is not counted: %d are waiting", _MAX_WAITING)

    def close(self) -> Mapping[str, Counts]:
        """Count what is waiting, for a limited time, keep the counts, and return them by kind of message."""
        try:
            self._waiting.put(None, timeout=_CLOSE_SECONDS)
        except queue.Full:
            return dict(self._totals)
        self._thread.join(_CLOSE_SECONDS)
        return dict(self._totals)

    def _count(self) -> None:
        flushed = time.monotonic()
        while True:
            try:
                work = self._waiting.get(timeout=_FLUSH_SECONDS)
            except queue.Empty:
                work = dict
            if work is not None:
                self._add(work)
            if work is None or time.monotonic() - flushed >= _FLUSH_SECONDS:
                self._flush()
                flushed = time.monotonic()
            if work is None:
                return

    def _add(self, work: Callable[[], Mapping[str, Counts]]) -> None:
        try:
            for kind, counts in work().items():
                self._totals[kind] = self._totals.get(kind, Counts()) + counts
        except Exception:
            _LOG.debug("a message is not counted", exc_info=True)

    def _counts(self, before: JsonObject | None, after: JsonObject | None, form: ShownForm) -> Mapping[str, Counts]:
        kind_before, served = _shown_of(before, form)
        kind, shown = _shown_of(after, form)
        if not (kind or kind_before):
            return {}
        if before is None:
            return {"opened": Counts(1, 1, 0, self._counter(shown))}
        if before is after:
            return {kind: Counts(messages=1)}
        return {kind or kind_before: Counts(1, 1, self._counter(served), self._counter(shown))}

    def _flush(self) -> None:
        """Keep what was counted since the last time; a file that cannot be written must not stop a proxy."""
        fresh = {kind: _difference(counts, self._kept.get(kind, Counts())) for kind, counts in self._totals.items()}
        if self._ledger is None or not any(counts.messages for counts in fresh.values()):
            return
        try:
            self._ledger.add(self.server, fresh)
            self._kept = dict(self._totals)
        except (OSError, sqlite3.Error) as error:
            _LOG.warning("the counts of %r are not kept: %s", self.server, error)


def _difference(counts: Counts, before: Counts) -> Counts:
    return counts + Counts(-before.messages, -before.rewritten, -before.tokens_before, -before.tokens_after)


def metered_relay(encoder: Encoder, meter: Meter) -> Relay:
    """Return a relay around `encoder` that `meter` counts."""

    def see(encoder: Encoder, before: JsonObject | None, after: JsonObject | None) -> None:
        meter.see(before, after, host_named(encoder.options.host, encoder.session.client_name).forms[0])

    return encoder_relay(encoder, see)
