"""Small parts of the core, each alone."""

from __future__ import annotations

import json

from accp_core.bounded import SizedCache
from accp_core.compression import ResultLimits
from accp_core.documents import Value, read
from accp_core.documents.cut import both_ends
from accp_core.documents.json_layout import describe_blanks
from accp_core.projection import ToolForms, check_tool_forms
from accp_core.tables import open_text


def test_a_text_after_a_gap_that_is_no_grid_ends_none() -> None:
    source = "id,name\n1,Ana\n2,Ben\n3,Cy\nwords"
    (head,) = read(source[: source.index("words")]).values()
    assert isinstance(head, Value)
    assert both_ends._grid_end(source, head, source.index("words")) is None


def test_small_parts_of_the_core() -> None:
    cache: SizedCache[str, int] = SizedCache(100)
    cache.put("a", 1, 10)
    assert cache.keys() == ("a",)
    assert describe_blanks([("", "1")], [], 1) is None
    limits = ResultLimits()
    assert ToolForms({"a": "as_is"}).limits_of("a", limits) is None
    check_tool_forms({"a": "as_is", "b": limits})
    text = "deep"
    for _ in range(12):
        text = json.dumps({"type": "text", "text": text})
    assert open_text(text).prose
    block = json.dumps({"type": "text", "text": "words alone"})
    assert open_text(block).prose == "words alone"
