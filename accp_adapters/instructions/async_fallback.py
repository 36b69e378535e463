"""The asynchronous twin of `FallbackEncoder`: registry calls run in a thread, the model is awaited (AACP 6.3)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, TypeVar

from accp_core.aacp.fallback import FallbackEncoder, Translation, read_instruction
from accp_core.aacp.instruction import Instruction
from accp_core.aacp.packet import serialize_packet
from accp_core.aacp.registry import InstructionStore
from accp_core.aacp.templates import read_shape
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError
from accp_core.ports import AsyncInstructionEncoder

__all__ = ["AsyncFallbackEncoder"]

T = TypeVar("T")


class AsyncFallbackEncoder:
    """Encodes instructions in English; a model is awaited at most once per wording or shape in an event loop.

    It is an `AsyncInstructionEncoder`. Processes that share a registry may both ask the model for the same new
    instruction; the answer that is stored first is the one that is found from then on.
    """

    def __init__(
        self, registry: InstructionStore, model: AsyncInstructionEncoder | None = None, **options: Any
    ) -> None:
        """Encode by rules, by `registry` and by `model`.

        Args:
            registry: Where entries are found and new ones are kept; it is called in another thread, by one caller at a
                time.
            model: Encodes new instructions; None: new instructions are refused.
            options: The other arguments of `FallbackEncoder`; `observe` is called in the thread of the registry.
        """
        self._encoder: Final = FallbackEncoder(registry, **options)
        self._model = model
        self._store = asyncio.Lock()
        self._flights: Final[dict[str, asyncio.Lock]] = {}
        self._waiting: Final[Counter[str]] = Counter()

    async def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        """Return the text of the packet; see `encode`."""
        found = await self.encode(instruction, domain=domain, return_agent=return_agent, priority=priority)
        return serialize_packet(found.packet)

    async def encode(self, english: str, *, domain: str, return_agent: str, priority: str = "2") -> Translation:
        """Return the packet of an instruction, and how it was found; exceptions of the model are raised unchanged.

        A caller that is cancelled while it awaits the model leaves the call to the next one that waits.

        Raises:
            EncodeError: As `FallbackEncoder.encode`.
        """
        instruction = read_instruction(english, domain=domain, return_agent=return_agent, priority=priority)
        if found := await self._in_thread(self._encoder.find, instruction):
            return found
        async with self._single_flight(read_shape(instruction).key or instruction.pattern):
            if found := await self._in_thread(self._encoder.find, instruction):
                return found
            return await self._in_thread(self._encoder.keep, instruction, await self._ask(instruction))

    async def _ask(self, instruction: Instruction) -> str:
        if self._model is None:
            reason = f"expected a rule, an entry or a model for {instruction.english[:80]!r}, found none"
            raise EncodeError(reason, code=ErrorCode.TOOL_NOT_FOUND)
        return await self._model(
            instruction.english,
            domain=instruction.domain,
            return_agent=instruction.return_agent,
            priority=instruction.priority,
        )

    async def _in_thread(self, call: Callable[..., T], *arguments: object) -> T:
        """Return the result of a call in another thread; one at a time, as a registry may be for one thread."""
        async with self._store:
            return await asyncio.to_thread(call, *arguments)

    @contextlib.asynccontextmanager
    async def _single_flight(self, key: str) -> AsyncIterator[None]:
        """Run the body for one caller at a time per key; a key without waiting callers is removed."""
        lock = self._flights.setdefault(key, asyncio.Lock())
        self._waiting[key] += 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._flights[key]
