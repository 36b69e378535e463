"""A session that goes on in another process: from its snapshot alone, and from what its caller knows."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import count
from typing import Any

from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.session.session import Session

CALLS = (
    "checkpoint", "connected", "decode", "disconnected", "encode", "exchange", "frames_to_send", "get_budget",
    "get_timer", "handle_timer", "open", "receive", "register_schema", "resolve", "send", "share", "size",
    "texts_to_store",
)  # fmt: skip
"""The calls of a session."""


def hand_over(session: Session) -> Session:
    """Return the session as another process restores it; its snapshot is the same."""
    parts, snapshot = session._parts, session.snapshot()
    restored = Session.restore(
        snapshot,
        codec=replace(parts.codec, registry=BUILT_IN),
        new_id=session._sender._new_id,
        options=parts.options,
        grants=parts.grants,
        tools=parts.tools,
        summarizer=parts.context._summarizer,
        observe=parts.observe,
    )
    assert restored.snapshot() == snapshot
    return restored


class HandOvers:
    """Restores each session before a call of a test: before the first forty calls, then now and then."""

    def __init__(self) -> None:
        self.calls = count()
        self.within = False

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method before which its session is restored, unless another method calls it."""

        @wraps(call)
        def cut(session: Session, *arguments: Any, **named: Any) -> Any:
            if self.within:
                return call(session, *arguments, **named)
            number = next(self.calls)
            if number < 40 or number % 2_000 == 0:
                vars(session).update(vars(hand_over(session)))
            self.within = True
            try:
                return call(session, *arguments, **named)
            finally:
                self.within = False

        return cut
