"""Who may look: one browser on this machine, which opened the address with the one-time token."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from starlette.responses import PlainTextResponse, RedirectResponse, Response

from accp_adapters.serving.hosts import AllowedHosts, Headers, header

__all__ = ["Access"]

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Fields of every response: nothing is loaded from elsewhere, shown elsewhere or kept."""
_MAX_URL: Final = 100_000
"""Bytes of a path and what is asked of it: 10,000 characters, percent-encoded, are up to 90,000."""
_OWN_SITE: Final = ("", "none", "same-origin")
"""Values of Sec-Fetch-Site: no browser, the address bar, our own page."""


class Access:
    """An ASGI application around another one: it answers only the browser that has spent the one-time token."""

    def __init__(self, app: Any, *, token: str) -> None:
        """Guard `app`.

        Args:
            app: The application.
            token: What the first address holds; it opens the page once.
        """
        self._app: Final = app
        self._token: Final = token.encode()
        self._spent = False
        self._hosts: Final = AllowedHosts()
        # Browsers send a cookie to every port of a host: two inspectors need two names.
        self._cookie: Final = f"accp-inspect-{secrets.token_hex(4)}"
        self._session: Final = secrets.token_urlsafe(32)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            return
        response = self._response(scope)
        if response is None:
            await self._app(scope, receive, _with_headers(send))
        else:
            await response(scope, receive, _with_headers(send))

    def _response(self, scope: Any) -> Response | None:
        """Return the answer to a request that is not passed on, None for one that is."""
        headers: Headers = scope["headers"]
        refusal = self._hosts.refusal(headers) or _other_site(headers)
        if refusal is not None:
            return PlainTextResponse(refusal[1], refusal[0])
        if scope["method"] != "GET":
            return PlainTextResponse("expected GET: this page changes nothing", HTTPStatus.METHOD_NOT_ALLOWED)
        size = len(scope["raw_path"]) + len(scope["query_string"])
        if size > _MAX_URL:
            return PlainTextResponse(
                f"expected an address of at most {_MAX_URL:,} bytes, found {size:,}", HTTPStatus.REQUEST_URI_TOO_LONG
            )
        known = self._knows(headers)
        given = (
            parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=20).get("token", [])
            if _first(scope)
            else []
        )
        if given and not known:
            return self._opened(given[0])
        if not known:
            return PlainTextResponse("expected the address that `accp inspect` has printed", HTTPStatus.UNAUTHORIZED)
        return RedirectResponse("/", HTTPStatus.SEE_OTHER) if given else None

    def _opened(self, given: str) -> Response:
        """Return what the first address shows: a cookie once, afterwards a refusal."""
        if not secrets.compare_digest(given.encode("utf-8", "surrogatepass"), self._token):
            return PlainTextResponse("expected the token that `accp inspect` has printed", HTTPStatus.FORBIDDEN)
        if self._spent:
            reason = "expected a token that was not used before: it opens one browser; start `accp inspect` again"
            return PlainTextResponse(reason, HTTPStatus.FORBIDDEN)
        self._spent = True
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return response

    def _knows(self, headers: Headers) -> bool:
        try:
            cookie = SimpleCookie(header(headers, b"cookie")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(cookie.value.encode(), self._session.encode())


def _first(scope: Any) -> bool:
    return bool(scope["path"] == "/" and scope["query_string"])


def _other_site(headers: Headers) -> tuple[HTTPStatus, str] | None:
    """Return why a request of another page of this machine is refused: a cookie knows no ports."""
    origin, site = header(headers, b"origin"), header(headers, b"sec-fetch-site")
    if origin and urlsplit(origin).netloc != header(headers, b"host"):
        return HTTPStatus.FORBIDDEN, f"expected the origin of this page, found {origin!r:.200}"
    if site not in _OWN_SITE:
        return HTTPStatus.FORBIDDEN, f"expected a request of this page, found one of a {site!r:.40} page"
    return None


def _with_headers(send: Any) -> Any:
    added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return sent
