"""The table of what is covered names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.adapters.frameworks import test_openai_agents, test_pydantic_ai

TABLE = Path(__file__).parents[3] / "docs" / "frameworks.md"


def test_each_test_that_the_table_names_is_there() -> None:
    rows = [line.split("|")[2:4] for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    for module, cells in zip((test_openai_agents, test_pydantic_ai), zip(*rows, strict=True), strict=True):
        named = set(re.findall(r"`(test_\w+)`", " ".join(cells)))
        assert named and all(hasattr(module, name) for name in named)
