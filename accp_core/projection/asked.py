"""Results of calls that hold a query: the model is shown its answer, which a function of the caller computes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache, partial
from typing import Final, Protocol

from accp_core.compression import Compressed, ResultLimits
from accp_core.projection.record import CallRecord, MessageRecord

__all__ = ["Ask", "AskedResults", "with_queries"]

_Shown = tuple[Compressed | None, ...]


class Ask(Protocol):
    """Answers the query that a call has of its own result."""

    @property
    def argument(self) -> str:
        """The argument of a call that holds the query; the tool itself is never given it."""
        ...

    def __call__(
        self,
        text: str,
        query: str,
        limits: ResultLimits,
        ordinary: Callable[[], Compressed | None],
        *,
        tool: str,
        is_first: bool,
    ) -> Compressed | None:
        """Return the answer, which cites `text`, or its refusal and the `ordinary` form; None: that form alone.

        Args:
            text: A text of the result.
            query: The query.
            limits: Those of the result.
            ordinary: Returns how the text is shown without a query, None where it stays as it is.
            tool: The name of the tool.
            is_first: Whether the tool was never asked before, so that the answer names the tables.
        """
        ...


class AskedResults:
    """The answers in one conversation."""

    def __init__(self, ask: Ask) -> None:
        """Answer by `ask`."""
        self._ask: Final = ask
        self._tools: Final[set[str]] = set()
        """The tools one of whose results was shown as an answer."""

    def of(
        self, call: CallRecord, blocks: tuple[str | None, ...], limits: ResultLimits, compress: Callable[[], _Shown]
    ) -> _Shown | None:
        """Return the blocks of a result, each that is a text as its answer; None where none of them needs one.

        Args:
            call: The call, whose query is not empty.
            blocks: The blocks.
            limits: Those of the result.
            compress: Returns the blocks as they are shown without a query.
        """
        ordinary, is_first = cache(compress), call.name not in self._tools

        def answer(at: int, text: str | None) -> Compressed | None:
            if not text:
                return None
            below = partial(_nth, ordinary, at)
            return self._ask(text, call.query, limits, below, tool=call.name, is_first=is_first)

        shown = tuple(answer(at, text) for at, text in enumerate(blocks))
        if not any(shown):
            return None
        self._tools.add(call.name)
        return tuple(block or ordinary()[at] for at, block in enumerate(shown))


def _nth(blocks: Callable[[], _Shown], at: int) -> Compressed | None:
    return blocks()[at]


def with_queries(record: MessageRecord, argument: str, unasked: Collection[str]) -> MessageRecord:
    """Return a message whose calls have the queries in their arguments; what is no text is none.

    Args:
        record: The message.
        argument: The argument that holds a query.
        unasked: The names of tools that have such an argument themselves.
    """

    def query(call: CallRecord) -> str:
        written = call.args.get(argument) if call.name not in unasked else None
        return written.strip() if isinstance(written, str) else ""

    return replace(record, calls=tuple(replace(call, query=query(call)) for call in record.calls))
