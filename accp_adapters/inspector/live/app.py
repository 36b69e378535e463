"""The inspector as an ASGI application: pages, their script and style, and a stream that says when to look again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from accp_adapters.inspector.live.access import Access
from accp_adapters.inspector.live.pages import Missing, Pages, Shown
from accp_adapters.inspector.live.sources.cold_texts import ColdTexts
from accp_adapters.inspector.live.sources.source import Source
from accp_adapters.inspector.live.watched import INTERVAL, Watched
from accp_adapters.inspector.page.environment import read_asset
from accp_adapters.replay import StrategyName, UnreadableRun
from accp_core.errors import ProtocolError

__all__ = ["inspector_app"]

_MAX_STREAMS: Final = 16
"""Pages that are told of changes at the same time."""
_HEARTBEAT: Final = 30
"""Looks without a change after which a stream says that it is alive."""


def inspector_app(
    source: Source,
    *,
    token: str,
    policy: StrategyName = StrategyName.DEFAULT,
    store: ColdTexts | None = None,
) -> Access:
    """Return the application; nothing of it is shown without the token, which opens it once.

    Args:
        source: What is looked at.
        token: The token, as `/?token=…`.
        policy: The policy under which prompts are projected first.
        store: Keeps the texts of references that the source does not hold; None: there is none.
    """
    inspector = _Inspector(Watched(source), Pages(policy, store))
    routes = [
        Route("/inspector.css", _style),
        Route("/inspector.js", _script),
        Route("/changes", inspector.changes),
        Route("/", inspector.page),
        Route("/threads/{thread}", inspector.page),
        Route("/threads/{thread}/{tab}", inspector.page),
    ]
    return Access(Starlette(routes=routes), token=token)


class _Inspector:
    """The pages of one source."""

    def __init__(self, watched: Watched, pages: Pages) -> None:
        self._watched: Final = watched
        self._pages: Final = pages
        self._streams = 0

    async def page(self, request: Request) -> Response:
        """Answer with a page."""
        await self._watched.look()
        watched = self._watched
        shown = Shown(source=watched.name, observed=watched.observed, version=watched.version, problem=watched.problem)
        wanted = {**request.path_params, **dict(request.query_params)}
        try:
            return HTMLResponse(await run_in_threadpool(self._pages.render, shown, wanted))
        except Missing as missing:
            return PlainTextResponse(str(missing), HTTPStatus.NOT_FOUND)
        except (ProtocolError, UnreadableRun) as error:
            return PlainTextResponse(f"the store cannot be read: {error}", HTTPStatus.BAD_GATEWAY)

    async def changes(self, request: Request) -> Response:
        """Answer with a stream of the version, which begins with the present one."""
        if self._streams >= _MAX_STREAMS:
            return PlainTextResponse(f"expected at most {_MAX_STREAMS} open pages", HTTPStatus.TOO_MANY_REQUESTS)
        return StreamingResponse(self._versions(), media_type="text/event-stream")

    async def _versions(self) -> AsyncIterator[str]:
        self._streams += 1
        try:
            told, silent = -1, 0
            while True:
                version = await self._watched.look()
                silent += 1
                if version != told or silent >= _HEARTBEAT:
                    yield f"data: {version}\n\n"
                    told, silent = version, 0
                await asyncio.sleep(INTERVAL)
        finally:
            self._streams -= 1


async def _style(request: Any) -> Response:
    return Response(read_asset("page/style.css") + read_asset("live/live.css"), media_type="text/css")


async def _script(request: Any) -> Response:
    return Response(read_asset("live/live.js"), media_type="text/javascript")
