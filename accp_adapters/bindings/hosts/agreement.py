"""What the workers of one log must have in common: the agent, and the secret of its msg_ids.

A worker with another secret would come to other frames when it repeats the steps of a session, and one of another agent
would answer in a name that the peer did not ask.
"""

from __future__ import annotations

import asyncio
import hmac
from typing import Final

from accp_adapters.bindings.hosts.options import HostLimits
from accp_adapters.bindings.logs import Fence, FrameLog
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json, read_json

__all__ = ["AGREEMENT", "Agreement", "OtherWorkers"]

AGREEMENT: Final = "w/agreement"
"""The log of the workers' agreement, which is no session."""
_PAUSE: Final = 0.02
_FINGERPRINT_BYTES: Final = 16


class OtherWorkers(ProtocolError):
    """The log is that of other workers (E9999): nothing is served."""

    def __init__(self, difference: str) -> None:
        """Refuse, and say what differs and what to do."""
        reason = f"expected the log of workers with the same agent_id and secret, {difference}"
        advice = "start this worker like the others, or give it a log of its own"
        super().__init__(f"{reason}: {advice}", code=ErrorCode.INTERNAL_ERROR)


class Agreement:
    """Compares this worker with those that have used the log."""

    def __init__(self, log: FrameLog, limits: HostLimits, *, worker: str, agent: str, secret: bytes) -> None:
        """Use `log`; it gets a fingerprint of the secret, which tells nothing about it."""
        self._log: Final = log
        self._limits: Final = limits
        self._worker: Final = worker
        self._agent: Final = agent
        self._fingerprint: Final = hmac.digest(secret, b"accp: the workers of a log", "sha256")[
            :_FINGERPRINT_BYTES
        ].hex()

    async def check(self) -> None:
        """Compare; the first worker of a log writes down what the others are compared with.

        Raises:
            OtherWorkers: The agent or the secret is another one.
            ProtocolError: E3001, the store is unreachable.
        """
        if not await self._is_known():
            fence = await self._lease()
            try:
                if not await self._is_known():
                    await self._write(fence)
            finally:
                await self._log.release(fence)

    async def refresh(self) -> None:
        """Write it down again, as logs in which nothing happens are removed after a while; another worker may do so."""
        if fence := await self._log.lease(AGREEMENT, self._worker, self._limits.lease):
            try:
                if await self._is_known():
                    await self._write(fence)
            finally:
                await self._log.release(fence)

    async def _lease(self) -> Fence:
        while (fence := await self._log.lease(AGREEMENT, self._worker, self._limits.lease)) is None:
            await asyncio.sleep(_PAUSE)
        return fence

    async def _is_known(self) -> bool:
        """Return whether the log has what this worker would write, False where it has nothing.

        Raises:
            OtherWorkers: It has something else.
        """
        found = await self._log.snapshot(AGREEMENT)
        if found is None:
            return False
        known = read_json(found[1])
        if known["agent"] != self._agent:
            raise OtherWorkers(f"found one of @{known['agent']} for @{self._agent}")
        if not hmac.compare_digest(known["secret"], self._fingerprint):
            raise OtherWorkers("found one with another secret")
        return True

    async def _write(self, fence: Fence) -> None:
        text = compact_json({"agent": self._agent, "secret": self._fingerprint})
        await self._log.append(fence, fence.last + 1, text)
        await self._log.save(fence, fence.last + 1, text)
