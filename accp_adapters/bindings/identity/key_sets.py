"""The public keys of an issuer of tokens: a JSON Web Key Set, given or fetched (RFC 7517)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

import httpx2

from accp_adapters.serving.principals import AccessDenied, is_loopback
from accp_core.strict_json import read_json

__all__ = ["FetchedKeys", "GivenKeys", "KeySet"]

Key: TypeAlias = Mapping[str, Any]
"""One JSON Web Key."""

_MAX_KEYS: Final = 64
_MAX_BYTES: Final = 256 * 1024
_FETCH_SECONDS: Final = 5.0


class KeySet(Protocol):
    """The keys of one issuer."""

    async def find(self, key_id: str | None) -> Key:
        """Return the key with the id `key_id`; the only key for None.

        Raises:
            AccessDenied: There is none.
        """
        ...


class GivenKeys:
    """Keys that never change."""

    def __init__(self, document: object) -> None:
        """Use the keys of a key set, `{"keys": [...]}`.

        Raises:
            ValueError: It is no key set, or holds no key for signatures.
        """
        self._keys = read_keys(document)

    async def find(self, key_id: str | None) -> Key:
        """Return the key with the id `key_id`; the only key for None."""
        return _known(find_key(self._keys, key_id))


class FetchedKeys:
    """Keys from the URL of an issuer (`jwks_uri`).

    They are fetched again when they are old, and for an unknown key id, since issuers change their keys; but never more
    often than once in `pause` seconds, whoever asks. While the issuer cannot be reached, its last keys are used.
    """

    def __init__(
        self,
        url: str,
        *,
        max_age: float = 600.0,
        max_stale: float = 3_600.0,
        pause: float = 30.0,
        client: Callable[[], httpx2.AsyncClient] = httpx2.AsyncClient,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Fetch from `url` when a key is asked for.

        Args:
            url: An https URL; http only for this machine.
            max_age: Seconds after which the keys are fetched again.
            max_stale: Seconds for which they are used beyond that while they cannot be fetched.
            pause: Seconds between two fetches.
            client: Returns the client of one fetch, such as one with other certificates.
            clock: Returns the current time in seconds.

        Raises:
            ValueError: `url` is neither.
        """
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise ValueError(f"expected an https URL of a key set, found {url!r:.200}")
        self._url, self._client, self._clock = url, client, clock
        self._max_age, self._max_stale, self._pause = max_age, max_stale, pause
        self._keys: Sequence[Key] = ()
        self._fetched_at = self._tried_at = -inf
        self._lock = asyncio.Lock()
        self.fetches = 0
        """How often the keys were asked for."""

    async def find(self, key_id: str | None) -> Key:
        """Return the key with the id `key_id`; the only key for None.

        Raises:
            AccessDenied: There is none, or the issuer cannot be reached.
        """
        known = find_key(self._keys, key_id)
        # Of those who have a usable key, one waits for newer ones: an issuer that is slow does not hold up the others.
        if known is None or (self._age() > self._max_age and not self._lock.locked()):
            await self._refresh(key_id)
            known = find_key(self._keys, key_id)
        if self._age() > self._max_age + self._max_stale:
            raise AccessDenied("expected the keys of the issuer, found no answer from it", is_temporary=True)
        return _known(known)

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    async def _refresh(self, key_id: str | None) -> None:
        async with self._lock:
            is_known = find_key(self._keys, key_id) is not None and self._age() <= self._max_age
            if not is_known and self._clock() - self._tried_at >= self._pause:
                await self._fetch()

    async def _fetch(self) -> None:
        now = self._tried_at = self._clock()
        self.fetches += 1
        try:
            async with asyncio.timeout(_FETCH_SECONDS), self._client() as client:
                self._keys = read_keys(read_json(await self._download(client)))
        except (httpx2.HTTPError, OSError, ValueError):
            return
        self._fetched_at = now

    async def _download(self, client: httpx2.AsyncClient) -> str:
        body = bytearray()
        async with client.stream("GET", self._url, headers={"accept-encoding": "identity"}) as answer:
            answer.raise_for_status()
            async for chunk in answer.aiter_raw():
                body += chunk
                if len(body) > _MAX_BYTES:
                    raise ValueError(f"expected a key set of at most {_MAX_BYTES} bytes")
        return body.decode()


def read_keys(document: object) -> Sequence[Key]:
    """Return the keys of a key set that are meant for signatures.

    Raises:
        ValueError: It is no key set, or holds no such key, or too many.
    """
    keys = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(keys, Sequence) or not 0 < len(keys) <= _MAX_KEYS:
        raise ValueError(f"expected a key set of 1 to {_MAX_KEYS} keys")
    usable = [key for key in keys if isinstance(key, Mapping) and key.get("use", "sig") == "sig"]
    if not usable:
        raise ValueError("expected a key for signatures, found none")
    return usable


def find_key(keys: Sequence[Key], key_id: str | None) -> Key | None:
    """Return the key with the id `key_id`, or the only key for None; None where there is none."""
    if key_id is None:
        return keys[0] if len(keys) == 1 else None
    return next((key for key in keys if key.get("kid") == key_id), None)


def _known(key: Key | None) -> Key:
    if key is None:
        raise AccessDenied("expected a token that is signed with a known key, found another key")
    return key
