"""What belongs to a release besides the files: the versions of a run, and the name on the index."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.release import is_free
from tests.tested_with import COLUMNS, PACKAGES, PAGE, write_column


def rows(page: Path) -> dict[str, list[str]]:
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {name: cells for name, *cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)}


def test_a_run_writes_its_own_column_and_no_other(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_column("test-others", page)
    before, after = rows(PAGE), rows(page)
    assert after["mcp"][COLUMNS.index("test-others")] == version("mcp")
    assert [row[:-1] for row in after.values()] == [row[:-1] for row in before.values()]


def test_the_page_has_every_package() -> None:
    assert {"Python", *PACKAGES} <= rows(PAGE).keys()


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("", True),
        ("accp-middleware (0.2.0)\nAvailable versions: 0.2.0, 0.1.0\n  INSTALLED: 0.2.0\n", False),
        ("accp-middleware (0.1.0)\nAvailable versions: 0.1.0\n", True),
    ],
)
def test_a_version_that_the_index_has_is_not_published_again(said: str, expected: bool) -> None:
    assert is_free(said, "0.2.0") is expected
