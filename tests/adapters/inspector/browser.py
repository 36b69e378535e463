"""Headless Chromium for tests of pages; a test is skipped where it, or what drives it, is not installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

__all__ = ["OpenPage", "chromium", "found_by_axe", "open_page", "violations"]

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@dataclass
class OpenPage:
    """A page in the browser, and what the browser complained about."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    """Messages of the console, errors, and addresses that were asked for besides the page itself."""


def chromium() -> Iterator[Any]:
    """Yield a running browser, which ends with the tests."""
    sync_api = pytest.importorskip("playwright.sync_api")
    binary = next(filter(None, map(shutil.which, _NAMES)), None)
    if binary is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        # Tests may run as root in a container, where Chromium has no sandbox. It opens only pages that tests made.
        browser = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def open_page(browser: Any, path: Path, **options: Any) -> Iterator[OpenPage]:
    """Open a file in a new window of its own; `options` are those of Playwright's `new_context`."""
    context = browser.new_context(**options)
    opened = OpenPage(context.new_page())
    opened.page.on("console", lambda message: opened.complaints.append(message.text))
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("request", lambda request: request.url == path.as_uri() or opened.complaints.append(request.url))
    opened.page.goto(path.as_uri())
    try:
        yield opened
    finally:
        context.close()


def violations(browser: Any, path: Path, **options: Any) -> list[str]:
    """Return what axe finds against WCAG 2.2 AA and good practice in a page, everything in it opened."""
    # The page's own policy refuses any script but its own.
    with open_page(browser, path, bypass_csp=True, **options) as opened:
        return found_by_axe(opened.page)


def found_by_axe(page: Any) -> list[str]:
    """Return what axe finds in an open page without a security policy, everything in it opened."""
    axe = pytest.importorskip("axe_playwright_python.base")
    source = Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.evaluate(source)
    found = page.evaluate("rules => axe.run({runOnly: rules})", _RULES)
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found["violations"]]
