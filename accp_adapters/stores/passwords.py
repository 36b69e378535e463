"""The addresses of servers without the passwords in them, so that a log may show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, unquote

__all__ = ["credentials", "without_password"]

_MIN_PART: Final = 3
"""Characters of a part of a password that a client may repeat alone."""
_URL: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,15}://)(?:(?P<user>[^/?#\s]*)@)?"
    r"(?P<place>(?:[\w.-]*|\[[0-9a-f:.]*\])(?::\d{0,5})?(?:/[^@?#\s]*)?)(?:\?(?P<options>[^@#]*))?",
    re.IGNORECASE,
)
"""An address in which user and password end where they seem to; any other may hold them anywhere."""


def without_password(url: str) -> str:
    """Return `url` without users, passwords and options, so that a log may show it; commas part several addresses.

    Of an address in which the password may stand anywhere, such as one with a slash in it, only the scheme is shown.
    """
    found = _addresses(url)
    if not found:
        scheme = re.match(r"[a-z][a-z0-9+.-]{0,15}(?=:)", url, re.IGNORECASE)
        return f"{scheme[0] if scheme else ''}://…"
    return ",".join(each["scheme"] + each["place"] for each in found)


def credentials(url: str) -> frozenset[str] | None:
    """Return the passwords and options of `url`, also in parts; None where it cannot be told where they stand."""
    found = _addresses(url)
    return frozenset(word for each in found for word in _words(each)) if found else None


def _addresses(url: str) -> list[re.Match[str]]:
    """Return the addresses of `url`; none unless each of them is one."""
    found = [match for part in url.split(",") if (match := _URL.fullmatch(part))]
    return found if len(found) == url.count(",") + 1 else []


def _words(address: re.Match[str]) -> Iterator[str]:
    user, _, password = (address["user"] or "").partition(":")
    options = [value for _, value in parse_qsl(address["options"] or "")]
    for secret in (password or user, unquote(password or user), address["options"] or "", *options):
        yield from (word for word in re.split(r"[\W_]+", secret) if len(word) >= _MIN_PART)
        if secret:
            yield secret
