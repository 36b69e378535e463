"""The state keys that are the middleware's own, and one call of the model as it is prepared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
from langchain.agents.middleware.types import OmitFromOutput, PrivateStateAttr
from langgraph.types import Command

from accp_adapters.langgraph.references.retention import Retention
from accp_adapters.telemetry import RewritingRecord

__all__ = ["AccpState", "PreparedCall"]


def _merge(left: Mapping[str, str] | None, right: Mapping[str, str] | None) -> dict[str, str]:
    return {**(left or {}), **(right or {})}


class AccpState(AgentState[Any]):
    """The agent's state with the keys that are this middleware's own; none of them reaches a caller."""

    accp_texts: NotRequired[Annotated[dict[str, str], _merge, OmitFromOutput]]
    """Texts that another agent handed over, key to text."""
    accp_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The session under which `store` keeps the texts of this thread and of its copies."""
    accp_stored: NotRequired[Annotated[dict[str, list[str]], PrivateStateAttr]]
    """Message id to the keys of its texts in `store`."""
    accp_offered: NotRequired[Annotated[bool, PrivateStateAttr]]
    """Whether the fetch tool was offered: from then on it always is, so that the list of tools changes once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """One call of the model, with what is stored before it and what the state gets after it."""

    request: ModelRequest
    """The request as the model is sent it."""
    retention: Retention = field(default_factory=Retention)
    """What the store gets and loses before the call."""
    update: dict[str, Any] = field(default_factory=dict)
    """The update of the private state after the call."""
    rewritten: tuple[RewritingRecord, ...] = ()
    """What the model is sent in another form for the first time."""
    failed: int = 0
    """Messages that are sent as they are for the first time because their projection raised."""

    def with_update(self, answer: ModelResponse[Any]) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Return the model's answer with the update."""
        if not self.update:
            return answer
        return ExtendedModelResponse(model_response=answer, command=Command(update=dict(self.update)))
