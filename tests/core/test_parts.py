"""Small parts of the core, each alone."""

from __future__ import annotations

import json

from accp_core.bounded import SizedCache
from accp_core.compression import ResultLimits
from accp_core.projection import ToolForms, check_tool_forms
from accp_core.tables import open_text


def test_small_parts_of_the_core() -> None:
    cache: SizedCache[str, int] = SizedCache(100)
    cache.put("a", 1, 10)
    assert cache.keys() == ("a",)
    limits = ResultLimits()
    assert ToolForms({"a": "as_is"}).limits_of("a", limits) is None
    check_tool_forms({"a": "as_is", "b": limits})
    text = "deep"
    for _ in range(12):
        text = json.dumps({"type": "text", "text": text})
    assert open_text(text).prose
    block = json.dumps({"type": "text", "text": "words alone"})
    assert open_text(block).prose == "words alone"
