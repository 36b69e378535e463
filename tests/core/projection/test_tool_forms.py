"""The table of what is special to tools: whose rule counts, and what it does to a result."""

import json
from dataclasses import replace
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import (
    FILE_READERS,
    CallRecord,
    MessageRecord,
    Projected,
    ProjectionRules,
    Projector,
    Role,
    ToolForms,
    check_tool_forms,
)

counter = o200k_base()
SMALL = ResultLimits(inline=100, preview=60)
RULES = ProjectionRules(counter=counter, limits=ResultLimits(inline=400, preview=200), batch_limit=16_000)
ROWS = [{"id": number, "name": f"row {number}", "is_open": True} for number in range(60)]
CODE = "".join(f"def function_{number}(value: int) -> int:\n    return value + {number}\n\n" for number in range(60))
FEW = json.dumps(ROWS[:8], indent=2)


def result(name: str, text: str) -> MessageRecord:
    return MessageRecord(role=Role.TOOL, blocks=(text,), name=name)


def project(tools: dict[str, Any], *records: MessageRecord, **changes: Any) -> list[Projected]:
    projector = Projector(replace(RULES, tools=ToolForms(tools), **changes))
    return [projector.project(record) for record in records]


@pytest.mark.parametrize(
    ("own", "tool", "form"),
    [
        ({"read_file": "lossless"}, "read_file", "lossless"),
        ({"read_*": "as_is"}, "read_file", "as_is"),
        ({"read_*": "as_is", "read_file": SMALL}, "read_file", SMALL),
        ({"read_f*": "lossless", "read_*": "as_is"}, "read_file", "lossless"),
        ({"search": "as_is"}, "read_file", "verbatim"),
        ({}, "mcp__filesystem__read_text_file", "verbatim"),
        ({}, "search", None),
        ({}, "", None),
        ({"READ_*": "as_is"}, "read_page", None),
    ],
)
def test_an_exact_name_goes_before_a_pattern_and_the_users_table_before_the_defaults(
    own: dict[str, Any], tool: str, form: Any
) -> None:
    assert ToolForms(own).find(tool) == form


def test_without_defaults_nothing_is_special() -> None:
    assert [ToolForms(defaults={}).find(name) for name in FILE_READERS] == [None] * len(FILE_READERS)


@pytest.mark.parametrize(
    ("tools", "found"),
    [
        ([], r"expected tools to be like \{'read_\*': 'verbatim'\}, found \[\]"),
        ({1: "as_is"}, "expected tools to be like .*, found {1: 'as_is'}"),
        ({"crm": "exact"}, r"expected tools\['crm'\] to be one of .* found 'exact'"),
        ({"crm": ["as_is"]}, r"expected tools\['crm'\] to be one of .* found \['as_is'\]"),
    ],
)
def test_what_is_no_table_of_forms_is_refused(tools: Any, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        check_tool_forms(tools)


def test_as_is_changes_nothing_and_lossless_hides_nothing() -> None:
    rows = json.dumps(ROWS)
    assert project({"crm": "as_is"}, result("crm", rows), result("crm", rows)) == [Projected(blocks=(None,))] * 2
    (shown,) = project({"crm": "lossless"}, result("crm", rows), limits=SMALL)
    assert shown.is_changed
    assert not shown.stored
    (hidden,) = project({}, result("crm", rows), limits=SMALL)
    assert hidden.stored


def test_limits_of_a_tool_stand_in_place_of_the_others() -> None:
    (shown,) = project({"c*": SMALL}, result("crm", json.dumps(ROWS)))
    assert shown.tokens_after <= 60


@pytest.mark.parametrize("text", [FEW, CODE[:1_000], "a: 1\nb:\n  - 2\n", "id,name\n1,a\n2,b\n3,c\n"])
def test_a_file_that_fits_is_shown_as_it_is(text: str) -> None:
    assert project({}, result("read_file", text)) == [Projected(blocks=(None,))]


@pytest.mark.parametrize("text", [json.dumps(ROWS, indent=2), CODE, "\n".join(map(str, range(900)))])
def test_an_excerpt_of_a_file_has_whole_lines_of_it(text: str) -> None:
    (shown,) = project({}, result("read_file", text), limits=ResultLimits(inline=300, preview=150))
    assert shown.blocks[0]
    first, *lines = shown.blocks[0].split("\n")
    assert first.startswith("[preview of ")
    kept = [line for line in lines if not line.startswith("[…")]
    assert kept
    assert set(kept) <= set(text.split("\n"))
    assert shown.stored[0].text == text


def test_the_text_of_a_file_in_json_is_shown_decoded_and_whole() -> None:
    inner = json.dumps(ROWS[:8], indent=2)
    (shown,) = project({}, result("read_file", json.dumps({"path": "rows.json", "content": inner})))
    assert shown.blocks[0]
    assert inner in shown.blocks[0]


def test_a_call_names_its_tool_for_the_result() -> None:
    asked = MessageRecord(role=Role.MODEL, blocks=("",), calls=(CallRecord(id="c1", name="read_file"),))
    answered = MessageRecord(role=Role.TOOL, blocks=(FEW,), call_id="c1")
    assert project({}, asked, answered)[1] == Projected(blocks=(None,))
