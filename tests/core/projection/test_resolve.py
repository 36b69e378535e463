"""Arguments of a tool in which a reference stands for its text: what is said of them in the table of tools."""

from typing import Any

import pytest

from accp_core.compression import ResultLimits
from accp_core.projection import ToolForms, check_tool_forms, resolve


def test_the_form_of_the_results_of_such_a_tool_is_that_of_others_or_its_own() -> None:
    limits = ResultLimits(inline=10, preview=60)
    forms = ToolForms({"view": resolve("x"), "a": resolve("x"), "b": resolve("x", form=limits), "*": "lossless"})
    assert [forms.find(name) for name in ("view", "a", "b")] == ["lossless", "lossless", limits]
    assert ToolForms({"view": resolve("x")}).find("view") == "verbatim"
    assert forms.resolve("c") is None


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ({"write_*": resolve("content")}, "expected the name of one tool with resolve(…), found the pattern 'write_*'"),
        ({"write": resolve()}, r"expected tools['write'] to resolve the names of arguments, found ()"),
        ({"write": resolve("")}, r"expected tools['write'] to resolve the names of arguments, found ('',)"),
        ({"write": resolve("a", max_chars=0)}, "expected max_chars of tools['write'] to be at least 1, found 0"),
        ({"write": resolve("a", form="whole")}, "found 'whole'"),  # type: ignore[arg-type]  # what is refused
    ],
)
def test_what_names_no_tool_and_arguments_is_refused(tools: Any, reason: str) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        check_tool_forms(tools)
    assert reason in str(refused.value)
