"""The arms of a run: the same agents without us, with our policies, and with what others do about long results."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from langchain.agents.middleware import AgentMiddleware, ClearToolUsesEdit, ContextEditingMiddleware, wrap_model_call

from accp_adapters.langgraph import AccpMiddleware, Policy

__all__ = ["ARMS", "BASELINE", "Arm", "arm_named", "available_arms", "middlewares_of"]

Middlewares: TypeAlias = list[AgentMiddleware[Any, Any, Any]]

BASELINE: Final = "without"
"""The arm that the others are compared with."""

_OFFLOAD_FROM: Final = 2_500
"""Tokens from which on deepagents offloads a result: as many as our default shows whole. It ships with 20,000."""
_CLEAR_FROM: Final = 20_000
_CLEAR_ALL_BUT: Final = 2
"""When LangChain clears older results: from so many tokens of a conversation on, all but the newest. It ships with
100,000 and 3, which none of the tasks comes to."""
_LIMITS: Final = re.compile(r"(\d+):(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of building the agents."""

    name: str
    """Its name in reports and run files."""
    policy: Policy | None = None
    """That of our middleware; None: the agents are without it."""
    others: Callable[[], Middlewares] = list
    """Makes the middlewares of others."""
    compact: bool = False
    """Whether the tools write JSON without blanks."""


def _offload() -> Middlewares:
    from deepagents.middleware.filesystem import FilesystemMiddleware  # this arm alone needs it

    return [FilesystemMiddleware(tool_token_limit_before_evict=_OFFLOAD_FROM)]


def _headroom() -> Middlewares:
    # It would send what it measures, and its LiteLLM would fetch prices.
    os.environ.setdefault("HEADROOM_TELEMETRY", "off")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    from headroom.integrations.langchain.langgraph import compress_tool_messages  # this arm alone needs it

    @wrap_model_call
    def compress(request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request.override(messages=compress_tool_messages(request.messages).messages))

    return [compress]


def _context_editing() -> Middlewares:
    return [ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=_CLEAR_FROM, keep=_CLEAR_ALL_BUT)])]


ARMS: Final[Mapping[str, Arm]] = MappingProxyType(
    {
        arm.name: arm
        for arm in (
            Arm(name=BASELINE),
            Arm(name="compact", compact=True),
            *(Arm(name=name, policy=Policy.named(name)) for name in ("lossless", "default")),
            Arm(name="deepagents", others=_offload),
            Arm(name="context_editing", others=_context_editing),
            Arm(name="headroom", others=_headroom),
        )
    }
)
"""The name of each arm to the arm; `arm_named` knows those of other limits, too."""


_PACKAGES: Final = ("deepagents", "headroom")
"""The arms that are packages of others, by the name of both."""


def available_arms() -> tuple[str, ...]:
    """Return the names of the arms whose libraries are installed."""
    return tuple(name for name in ARMS if name not in _PACKAGES or importlib.util.find_spec(name))


def arm_named(name: str) -> Arm:
    """Return an arm by its name.

    Args:
        name: That of `ARMS`, or the limits of a policy: `1000:700` shows results of up to 1,000 tokens whole, and
            previews of 700 of longer ones.

    Raises:
        ValueError: there is no such arm, or no policy has such limits.
    """
    if limits := _LIMITS.fullmatch(name):
        return Arm(name=name, policy=Policy(inline_limit=int(limits[1]), preview_limit=int(limits[2])))
    if name not in ARMS:
        raise ValueError(f"expected an arm of {', '.join(ARMS)}, or limits such as 1000:700, found {name!r}")
    return ARMS[name]


def middlewares_of(arm: Arm, store: Any = None) -> tuple[Middlewares, AccpMiddleware | None]:
    """Return the middlewares of one agent, and ours among them, which stands last."""
    own = None if arm.policy is None else AccpMiddleware(arm.policy, store=store)
    return [*arm.others(), *([own] if own else [])], own
