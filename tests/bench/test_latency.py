from __future__ import annotations

import pytest
from rich.console import Console

from tests.bench import latency


def test_a_thread_has_the_length_asked_for_and_texts_new_to_the_process() -> None:
    first, second = latency.thread_of(51), latency.thread_of(51)
    assert [len(first), len(second)] == [51, 51]
    assert not {message.text for message in first if message.text} & {message.text for message in second}


def test_the_tables_have_a_line_for_each_length_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "LENGTHS", (10,))
    monkeypatch.setattr(latency, "SIZES", (1_000, 2_000, 40_000))
    monkeypatch.setattr(latency, "_MANY", 2)
    monkeypatch.setattr(latency, "_REPEATS", 1)
    console = Console(width=120)
    with console.capture() as table:
        latency.main(None, console)
    assert table.get().count("40,000") == 6
    assert "preview" in table.get()
