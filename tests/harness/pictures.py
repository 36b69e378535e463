"""`python -m tests.harness.pictures`: the picture of the report in docs/, from Chromium."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

__all__ = ["main"]

DOCS: Final = Path(__file__).parents[2] / "docs"
ACCP: Final = [sys.executable, "-c", "from accp_adapters.cli import main; main()"]


def main() -> None:
    """Make the picture."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        subprocess.run([*ACCP, "replay", "--example", "--html", str(report)], check=True, capture_output=True)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1100, "height": 640})
        page.goto(report.as_uri())
        page.screenshot(path=DOCS / "report.png")


if __name__ == "__main__":
    main()
