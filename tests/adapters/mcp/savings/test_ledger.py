"""Counts in a file: several proxies add at once, none is lost, and a file that cannot be used does no harm."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from accp_adapters.mcp.savings.counts import Counts
from accp_adapters.mcp.savings.ledger import Ledger


def test_what_several_proxies_add_at_once_is_added_up(tmp_path: Path) -> None:
    def add(number: int) -> None:
        Ledger(tmp_path / "new").add("git", {"results": Counts(1, 1, 10, 4), "opened": Counts(number, 0, 0, 0)})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(20)))
    counts = Ledger(tmp_path / "new").read()
    assert counts == {"git": {"opened": Counts(190, 0, 0, 0), "results": Counts(20, 20, 200, 80)}}


def test_without_a_file_nothing_was_counted(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "none").read() == {}
    assert not (tmp_path / "none").exists()


def test_a_file_that_is_no_database_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mcp-savings.sqlite").write_text("something else" * 100, encoding="utf-8")
    with pytest.raises(sqlite3.Error):
        Ledger(tmp_path).read()
    with pytest.raises(sqlite3.Error):
        Ledger(tmp_path).add("git", {"results": Counts(1)})


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (Counts(3), "3 messages, 0 rewritten"),
        (Counts(12, 9, 4512, 2310), "12 messages, 9 rewritten: 4,512 tokens became 2,310 (48.8 % less)"),
        (Counts(1, 1, 0, 50), "1 message, 1 rewritten: 0 tokens became 50"),
        (Counts(1, 1, 100, 150), "1 message, 1 rewritten: 100 tokens became 150 (50.0 % more)"),
    ],
)
def test_counts_in_words(counts: Counts, said: str) -> None:
    assert counts.describe() == said
