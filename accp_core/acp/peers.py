"""The peers of one agent, each with its own token (ACP transport 0.3, sections 3.2 and 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from accp_core.acp.error_codes import AcpError
from accp_core.acp.handshake import Connection, is_admitted
from accp_core.errors import LocalProtocolError

__all__ = ["Peers"]

MAX_PEERS: Final = 1_000


class Peers:
    """The connections of an agent by the name of the peer; a token opens one of them."""

    def __init__(self, connect: Callable[[], Connection], *, max_peers: int = MAX_PEERS) -> None:
        """Start without peers.

        Args:
            connect: Returns the connection of a new peer.
            max_peers: How many peers there may be.
        """
        self._connect = connect
        self._max_peers = max_peers
        self._peers: dict[str, tuple[str, Connection]] = {}

    def __len__(self) -> int:
        return len(self._peers)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the peers."""
        return iter(self._peers)

    def add(self, name: str, token: str) -> Connection:
        """Return the connection of a new peer.

        Raises:
            LocalProtocolError: ERR_INVALID_REQUEST, the name or the token is in use; ERR_NOT_CONNECTED, too many peers.
        """
        if name in self._peers or any(token == known for known, _ in self._peers.values()):
            reason = f"expected a new name and a new token for {name!r}, found one that is in use"
            raise LocalProtocolError(reason, code=AcpError.INVALID_REQUEST)
        if len(self._peers) >= self._max_peers:
            reason = f"expected at most {self._max_peers} peers, found another one"
            raise LocalProtocolError(reason, code=AcpError.NOT_CONNECTED)
        connection = self._connect()
        self._peers[name] = token, connection
        return connection

    def remove(self, name: str) -> None:
        """Forget a peer and its token, if it is known."""
        self._peers.pop(name, None)

    def admit(self, path: str, headers: Mapping[str, str]) -> str | None:
        """Return the peer whose token a request has, None where it has none; every token is compared."""
        admitted = [name for name, (token, _) in self._peers.items() if is_admitted(token, path, headers)]
        return admitted[0] if admitted else None

    def get(self, name: str | None = None) -> Connection:
        """Return the connection of a peer.

        Args:
            name: The peer; None: the only one.

        Raises:
            LocalProtocolError: ERR_NOT_FOUND, there is no such peer; ERR_AMBIGUOUS_PEER, there are several;
                ERR_NOT_CONNECTED, there is none.
        """
        if name is not None and name in self._peers:
            return self._peers[name][1]
        if name is not None:
            raise LocalProtocolError(f"expected a known peer, found {name!r}", code=AcpError.NOT_FOUND)
        if len(self._peers) != 1:
            code = AcpError.AMBIGUOUS_PEER if self._peers else AcpError.NOT_CONNECTED
            raise LocalProtocolError(f"expected the name of one of {len(self._peers)} peers, found none", code=code)
        return next(iter(self._peers.values()))[1]
