"""Whom to reach and where: the AgentCard and the link of an agent (ACP transport 0.3, sections 3.2, 3.5, 5.2, 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from accp_core.acp.envelope import MAX_ACP_BYTES, AcpError, Json, describe, expect_text, refusal
from accp_core.errors import EncodeError

__all__ = ["ACP_VERSION", "TRANSPORT_VERSION", "AgentCard", "Binding", "Link", "next_link", "parse_link"]


# Links: the address of an agent with its token (ACP transport 0.3, sections 3.2 and 5.2).
#
# acp://<host>:<port>/<token>            a direct WebSocket (binding A)
# acp+wss://<relay-host>/acp/<token>     a public relay (binding C)
# acp+ws://<relay-host>/acp/<token>      the same without TLS, which the guest of the reference accepts

DEFAULT_PORT: Final = 7801
_DIRECT_ATTEMPTS: Final = 3

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{6,64}")
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\]")
_ADDRESS: Final = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?")
_LINK: Final = re.compile(r"(acp|acp\+wss?)://([^/?#@\s]{1,300})(/acp)?/([^/?#\s]{1,300})")


class Binding(StrEnum):
    """A transport; the value is its name in `capabilities.bindings` of an AgentCard (section 10)."""

    WS_P2P = "ws-p2p"
    STDIO = "stdio"
    HTTP_RELAY = "http-relay"
    HTTP_SSE = "http-sse"
    TCP = "tcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link; `str(link)` is its text.

    Raises:
        EncodeError: ERR_INVALID_REQUEST, a link cannot have such a host, port or token.
    """

    binding: Binding
    """WS_P2P or HTTP_RELAY."""
    host: str
    """A host name or an IP address."""
    port: int | None
    """The port; None, on a relay only: the default port of the scheme."""
    token: str
    """The secret of the session."""
    tls: bool = True
    """Whether a relay is called by https."""

    def __post_init__(self) -> None:
        has_default_port = self.port is None and self.binding is Binding.HTTP_RELAY
        if not has_default_port and not (type(self.port) is int and 0 < self.port < 65_536):
            raise invalid_link(f"port: expected 1 to 65535, found {self.port!r}")
        if not _HOST.fullmatch(self.host):
            raise invalid_link(f"host: expected a name or an address, found {self.host!r}")
        if not _TOKEN.fullmatch(self.token):
            raise invalid_link("token: expected 6 to 64 letters, digits, '_' and '-'")
        if self.binding not in (Binding.WS_P2P, Binding.HTTP_RELAY):
            raise invalid_link(f"binding: expected ws-p2p or http-relay, found {self.binding.value}")

    def __str__(self) -> str:
        """Return the text of the link."""
        if self.binding is Binding.WS_P2P:
            return f"acp://{self._address}/{self.token}"
        return f"{'acp+wss' if self.tls else 'acp+ws'}://{self._address}/acp/{self.token}"

    @property
    def url(self) -> str:
        """The URL to connect to: that of a WebSocket, or the base URL of the relay."""
        if self.binding is Binding.WS_P2P:
            return f"ws://{self._address}/{self.token}"
        return f"{'https' if self.tls else 'http'}://{self._address}/acp/{self.token}"

    @property
    def _address(self) -> str:
        return self.host if self.port is None else f"{self.host}:{self.port}"

    # "The P2P token (acp://) and the relay token (acp+wss://) are the same value." (section 5.1)
    def by_relay(self, host: str, port: int | None = None, *, tls: bool = True) -> Link:
        """Return the link of the same session on a relay, for peers without a direct connection."""
        return replace(self, binding=Binding.HTTP_RELAY, host=host, port=port, tls=tls)


def parse_link(text: str) -> Link:
    """Return the link of a text; "acp://" without a port means port 7801.

    Raises:
        DecodeError: ERR_INVALID_REQUEST, it is no link. The reason does not contain the token, which is a secret.
    """
    match = _LINK.fullmatch(text)
    is_direct = match is not None and match[1] == "acp"
    if match is None or is_direct == (match[3] is not None):
        raise refusal("expected acp://host:port/token or acp+wss://host/acp/token", text)
    address = _ADDRESS.fullmatch(match[2])
    if address is None:
        raise refusal(f"expected host or host:port, found {match[2]!r}", text)
    try:
        return Link(
            binding=Binding.WS_P2P if is_direct else Binding.HTTP_RELAY,
            host=address[1],
            port=int(address[2]) if address[2] else DEFAULT_PORT if is_direct else None,
            token=match[4],
            tls=match[1] != "acp+ws",
        )
    except EncodeError as error:
        raise refusal(error.reason, text) from None


# "The reference relay auto-falls back to Binding C after 3 failed P2P attempts." (section 5.1)
def next_link(link: Link, failures: int, relay: Link | None = None) -> Link:
    """Return where to connect after `failures` attempts in a row have failed.

    Args:
        link: The link of the peer.
        failures: How many attempts have failed since the last connection.
        relay: A link on the relay to use after three failures; its token is replaced by that of `link`. None: `link`
            is tried on and on.
    """
    if failures < _DIRECT_ATTEMPTS or relay is None or link.binding is not Binding.WS_P2P:
        return link
    return link.by_relay(relay.host, relay.port, tls=relay.tls)


def invalid_link(reason: str) -> EncodeError:
    """Return the exception for a link that cannot be written: ERR_INVALID_REQUEST."""
    return EncodeError(reason, code=AcpError.INVALID_REQUEST)


ACP_VERSION: Final = "1.0"
TRANSPORT_VERSION: Final = "0.3"

ENDPOINTS: Final[Mapping[str, str]] = MappingProxyType(
    {"send": "/message:send", "stream": "/stream", "agent_card": "/.well-known/acp.json"}
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
