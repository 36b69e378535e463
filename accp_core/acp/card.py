"""The AgentCard: an agent's name, capabilities and endpoints (ACP transport 0.3, sections 3.5 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from accp_core.acp.document import MAX_ACP_BYTES, Json
from accp_core.acp.link import Binding
from accp_core.acp.parts import describe, expect_text

__all__ = ["ACP_VERSION", "TRANSPORT_VERSION", "AgentCard"]

ACP_VERSION: Final = "1.0"
TRANSPORT_VERSION: Final = "0.3"

ENDPOINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "send": "/message:send",
        "stream": "/stream",
        "agent_card": "/.well-known/acp.json",
    }
)
"""The paths of binding D."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCard:
    """The description of itself that each side sends when a connection is opened."""

    name: str
    """The agent's name."""
    version: str = "0"
    """The agent's own version, not the protocol's."""
    description: str = ""
    """What the agent does, for people."""
    bindings: tuple[Binding, ...] = ()
    """The bindings that are enabled."""
    link: str = ""
    """The link for a direct connection; empty where there is none."""
    capabilities: Mapping[str, Json] = field(default_factory=dict)
    """Capabilities besides those that follow from `bindings` and from this implementation."""
    endpoints: Mapping[str, str] = field(default_factory=lambda: ENDPOINTS)
    """Endpoint to its path."""
    skills: tuple[Mapping[str, Json], ...] = ()
    """The skills, as JSON objects."""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of the card: flat, as the compatibility suite of the draft requires."""
        own: dict[str, Json] = {
            "streaming": Binding.HTTP_SSE in self.bindings,
            "push_notifications": False,
            "server_seq": True,
            "max_msg_bytes": MAX_ACP_BYTES,
            "bindings": [binding.value for binding in self.bindings],
        }
        card = {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "protocol": "acp",
            "acp_version": ACP_VERSION,
            "transport_version": TRANSPORT_VERSION,
            "capabilities": {**own, **self.capabilities},
            "endpoints": dict(self.endpoints),
            "skills": [dict(skill) for skill in self.skills],
        }
        return {**card, "link": self.link} if self.link else card

    @classmethod
    def from_json(cls, data: object) -> AgentCard:
        """Return the card of a peer, which may be the value of "self"; unknown bindings are ignored.

        Raises:
            ValueError: It has no name, or a member of another type.
        """
        if isinstance(data, Mapping) and isinstance(data.get("self"), Mapping):
            data = data["self"]
        if not isinstance(data, Mapping):
            raise ValueError(f"expected an AgentCard, found {describe(data)}")
        capabilities, endpoints = (_mapping(data, name) for name in ("capabilities", "endpoints"))
        names = capabilities.get("bindings", [])
        skills = data.get("skills", [])
        return cls(
            name=expect_text(data.get("name"), "name"),
            version=expect_text(data.get("version", "0"), "version"),
            description=expect_text(data.get("description", ""), "description"),
            bindings=tuple(binding for binding in Binding if isinstance(names, list) and binding.value in names),
            link=expect_text(data.get("link") or "", "link"),
            capabilities={name: value for name, value in capabilities.items() if name != "bindings"},
            endpoints={name: expect_text(path, name) for name, path in endpoints.items()},
            skills=tuple(skill for skill in skills if isinstance(skill, Mapping)) if isinstance(skills, list) else (),
        )


def _mapping(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: expected an object, found {describe(value)}")
    return value
