"""What every store of texts must do, for the tests of each store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from accp_core.ports import ColdStore

__all__ = ["share_between_threads"]


def share_between_threads(store: ColdStore) -> None:
    """Put and get ten texts from many threads at once, and check that each get returns its own text."""

    def work(number: int) -> str | None:
        store.put("s", f"cold.{number % 10}", f"text {number % 10}")
        return store.get("s", f"cold.{number % 10}")

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(work, range(200)))
    assert texts == [f"text {number % 10}" for number in range(200)]
