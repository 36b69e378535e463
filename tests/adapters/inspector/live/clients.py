"""The inspector as its browser sees it: requests to the application without a socket."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
from starlette.testclient import TestClient

from accp_adapters.inspector.live import inspector_app, open_source
from accp_adapters.inspector.live.sources.cold_texts import ColdTexts
from accp_adapters.inspector.live.sources.source import Source
from accp_adapters.inspector.live.threads import Observed
from tests.adapters.inspector.pages import Element, elements_of

__all__ = ["HOST", "TOKEN", "FixedSource", "client", "elements", "opened", "thread_paths"]

TOKEN = "one-time-token"
HOST = "127.0.0.1:8000"


@dataclass
class FixedSource:
    """A source that holds what a test gives it."""

    observed: Observed
    name: str = "a test"

    def read(self) -> Observed:
        """Return it."""
        return self.observed


def client(source: Source | None = None, store: ColdTexts | None = None) -> TestClient:
    """Return a client that has not opened the page yet."""
    app = inspector_app(source or FixedSource(Observed()), token=TOKEN, store=store)
    return TestClient(app, base_url=f"http://{HOST}", follow_redirects=False)


def opened(source: Source | str, store: ColdTexts | None = None) -> TestClient:
    """Return a client that has spent the token."""
    found = client(open_source(source) if isinstance(source, str) else source, store)
    assert found.get(f"/?token={TOKEN}").status_code == 303
    return found


def elements(response: httpx.Response) -> list[Element]:
    """Return the elements of a page."""
    assert response.status_code == 200, response.text
    return elements_of(response.text)


def thread_paths(found: TestClient) -> dict[str, str]:
    """Return name and address of each thread in the list."""
    links = [each for each in elements(found.get("/")) if each.attributes.get("href", "").startswith("/threads/")]
    listed = [each for each in links if each.text.rpartition(" ")[2].replace(",", "").isdecimal()]
    return {each.text.rpartition(" ")[0]: each.attributes["href"] for each in listed}
