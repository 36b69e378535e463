"""Block YAML is read where the same text can be written again, and written as PyYAML does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.documents import block_yaml
from accp_core.packing.expansion import Expansion, ExpansionError
from tests.core.exactly import exactly

yaml: Any = pytest.importorskip("yaml")

WORDS = "some words that go on and on, until they are longer than a line of eighty columns may be, and then some more"
VALUE = {
    "ok": True,
    "none": None,
    "items": [{"id": 1, "name": "Ana's", "tags": []}, {"id": -2, "name": "1.5", "tags": ["a", "b c"], "more": {}}],
    "nested": {"list": [["x", ["y"]], "z"], "map": {"price": 12.5}},
    "long": WORDS,
    "quoted": f"{WORDS}: {WORDS}",
    "lines": f"one\n\n{WORDS}: x\nthree\n",
    "double": f'\n  "{WORDS}"\t\\{WORDS}\x1b\x07\x85\u2028 \x01',
    "yes": "no",
    "1": "2026-01-01",
    "é": "中",
    "empty": "",
}


def dump(value: object) -> str:
    """Return what PyYAML writes, without the line break at the end."""
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True)).removesuffix("\n")


def read_block_yaml(text: str) -> object | None:
    try:
        return block_yaml.read(text) if block_yaml.recognise(text) else None
    except ValueError:
        return None


def write_block_yaml(value: object) -> str:
    return block_yaml.write(value, "", Expansion(1_000_000))


def test_it_is_written_as_pyyaml_writes_it_and_read_back() -> None:
    text = dump(VALUE)
    assert write_block_yaml(VALUE) == text
    assert exactly(read_block_yaml(text)) == exactly(VALUE)
    assert block_yaml.write(VALUE, "", Expansion(len(text))) == text
    with pytest.raises(ExpansionError):
        block_yaml.write(VALUE, "", Expansion(len(text) - 1))
    rows = [VALUE, {"a": 1}]
    assert exactly(read_block_yaml(dump(rows))) == exactly(rows)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "prose",
        "- a list\n- of prose",
        "a: 1\nb",
        "a: 1\n\nb: 2",
        "a: 1\na: 2",
        "a: 1 # comment",
        "# comment\na: 1",
        "a: 1\n  b: 2",
        "a:\n    b: 2",
        "a:\n  - b",
        "a:",
        "a: \nb: 1",
        "a: [1, 2]",
        "a: {b: 1}",
        "a: 0x1f",
        "a: 1.50",
        "a: yes",
        "a: 'x",
        'a: "x"',
        'a: "\\uD83D\\uDE00"',
        'a: "\\q"',
        'a: "\\',
        "a: |\n  x",
        "a: &x 1",
        "? a\n: 1",
        "---\na: 1",
        "a: 1\n---\nb: 1",
        "'a\n  b': 1",
        "a: 12345678901234567890",
        "a:\n- b\n c: 1",
        "\n".join(f"{'  ' * depth}a:" for depth in range(50)) + " 1",
        f"{'k' * 200}: 1",
    ],
)
def test_what_is_not_of_the_subset_is_not_read(text: str) -> None:
    assert read_block_yaml(text) is None


@pytest.mark.parametrize("value", ["0x1f", "1.50", "yes", "'x'", '"x"', "[1, 2]", "&x 1", "12345678901234567890"])
def test_a_nested_value_that_would_be_written_otherwise_is_not_read(value: str) -> None:
    assert read_block_yaml("rows:\n- a: 1\n  b: 2") is not None
    assert read_block_yaml(f"rows:\n- a: {value}\n  b: 2") is None


@pytest.mark.parametrize(
    "value", [5, "text", [], {}, {"a": float("inf")}, {"a": 10**30}, {"": 1}, {"a\nb": 1}, {"a\x01": 1}, {"k" * 200: 1}]
)
def test_what_the_subset_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        write_block_yaml(value)


def test_too_many_levels_are_refused() -> None:
    value: object = {"a": 1}
    for _ in range(30):
        value = {"a": value}
    with pytest.raises(ValueError, match="expected at most 20 levels"):
        write_block_yaml(value)


PIECES = ["word ", " ", "a", "b: ", "'", '"', "- ", "\n", " #", "1", "é", "\t", "longerword ", "yes", "\\", "\x07"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
SCALARS = (
    TEXTS | st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.sampled_from([1.5, -0.25, "1:30", "~"])
)
KEYS = st.sampled_from(["a", "b c", "key", "é", "x-y", "yes", "1", "q:r", "it's", "- a", "a: b", "c #d"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_whatever_pyyaml_writes_comes_back_or_is_left(value: object) -> None:
    text = dump(value)
    found = read_block_yaml(text)
    if found is not None:
        assert exactly(found) == exactly(value)
        assert write_block_yaml(found) == text
    assert read_block_yaml(write_block_yaml(value)) in (None, value)


@given(st.lists(st.sampled_from([*PIECES, "a: ", "\nb: ", "\n- c: ", "\n  ", "d:\n"]), max_size=30).map("".join))
def test_any_text_is_written_again_or_not_read(text: str) -> None:
    found = read_block_yaml(text)
    if found is not None:
        assert write_block_yaml(found) == text
