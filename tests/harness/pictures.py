"""`python -m tests.harness.pictures`: the pictures of the report and of the inspector in docs/, from Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.adapters.inspector.browser import chromium

__all__ = ["main"]

DOCS: Final = Path(__file__).parents[2] / "docs"
ACCP: Final = [sys.executable, "-c", "from accp_adapters.cli import main; main()"]
RUN: Final = Path(__file__).parents[2] / "accp_adapters" / "replay" / "recorded_run.json"
WIDTH, HEIGHT = 1100, 600


def take(browser: Any, address: str, name: str, *clicks: str) -> None:
    """Open a page, click on what has these words, and keep what is seen."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(address)
    for words in clicks:
        page.get_by_text(words, exact=True).first.click()
        page.wait_for_timeout(1_500)
    page.screenshot(path=DOCS / name)
    page.close()
    print(DOCS / name)


@contextmanager
def inspector(folder: str) -> Iterator[str]:
    """Yield the address of the inspector of the example."""
    shutil.copy(RUN, Path(folder) / "run.json")
    command = [*ACCP, "inspect", "run.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().partition("Open once: ")[2].strip()
        finally:
            process.terminate()


def main() -> None:
    """Make both pictures."""
    for browser in chromium():
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.html"
            subprocess.run([*ACCP, "replay", "--example", "--html", str(report)], check=True, capture_output=True)
            take(browser, report.as_uri(), "report.png")
            with inspector(folder) as address:
                take(browser, address, "inspector.png", "Prompts")


if __name__ == "__main__":
    main()
