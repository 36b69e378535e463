"""`lazy_pattern`: compiled at the first use, and then as `re.compile`."""

import re
from typing import Any

import pytest

from accp_core.lazy_patterns import lazy_pattern
from tests.core.test_lazy_exports import modules_after


def test_a_pattern_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[tuple[Any, ...]] = []
    compile_now = re.compile

    def count(*arguments: Any) -> re.Pattern[str]:
        compiled.append(arguments)
        return compile_now(*arguments)

    monkeypatch.setattr(re, "compile", count)
    pattern = lazy_pattern("(a)b", re.IGNORECASE)
    assert compiled == []
    assert [bool(pattern.fullmatch(text)) for text in ("AB", "ac", "ab")] == [True, False, True]
    assert compiled == [("(a)b", re.IGNORECASE)], "one use of a method is enough"
    assert pattern.pattern == "(a)b"


def test_a_bad_pattern_is_refused_at_its_first_use() -> None:
    with pytest.raises(re.error, match="missing \\), unterminated subpattern at position 0"):
        lazy_pattern("(").search("text")


def test_importing_views_compiles_no_rule_of_plain_texts() -> None:
    program = "import re; plain = re.compile; texts = []\n"
    program += "re.compile = lambda text, flags=0: texts.append(text) or plain(text, flags)\n"
    program += "import accp_core.view.write, accp_core.documents.yaml\n"
    program += "assert texts, 'other patterns are compiled'\n"
    program += "assert max(map(len, texts)) < 400, max(texts, key=len)"
    assert "accp_core.view.write" in modules_after(program)
