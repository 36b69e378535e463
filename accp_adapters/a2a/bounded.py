"""The bounds of `serving.bounded` for A2A: `BoundedRequests(Starlette(routes=create_jsonrpc_routes(handler, "/")))`."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from a2a.utils.errors import InvalidParamsError

from accp_adapters.a2a.values import count_values
from accp_adapters.serving import bounded
from accp_core.error_codes import ErrorCode

__all__ = ["ADMIT", "BoundedRequests"]

ADMIT: Final[ContextVar[Callable[[Any], object]]] = ContextVar("accp_a2a_admit", default=id)
"""What refuses the values of frames beyond those that the running request may hold."""


class BoundedRequests(bounded.BoundedRequests):
    """Passes requests to an A2A application, those of one caller in turns, and counts the values inside frames, too.

    A caller is a token that middleware around this one has checked, else an address. What is expensive takes a tenth
    of the event loop while others ask, and half of it while nobody does, whatever else is in the requests. The other
    requests of a caller with several connections have an equal share of it while others ask.
    """

    _may_expand = re.compile(rb"accp|\\u")

    def _allow(self, left: int) -> None:
        def admit(value: Any) -> None:
            nonlocal left
            left -= count_values(value, left)
            if left < 0:
                reason = f"expected a message of at most {self._max_values:,} values, found more in its frames"
                raise InvalidParamsError(reason, {"accp": str(ErrorCode.BUDGET_EXCEEDED)})

        ADMIT.set(admit)
