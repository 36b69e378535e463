"""YAML is read as people and programs write it, and written again where its layout can be told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.documents import read
from accp_core.documents.yaml import DOCUMENT, DOCUMENTS, plain_value, read_documents
from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.tables.source import open_text
from tests.core.exactly import exactly
from tests.work import grows_in_proportion

yaml: Any = pytest.importorskip("yaml")

WORDS = "some words that go on and on, until they are longer than a line of eighty columns may be, and then some more"

KUBECTL = """\
apiVersion: v1
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    annotations:
      note: 'x: y'
      script: |
        set -e
          run --all

        exit 0
      text: |2-
         leads
        with a blank
      tail: |+
        keeps its end

    creationTimestamp: "2026-02-16T02:18:08Z"
    name: web
  spec:
    args:
    - -c
    - "8080"
    - '*'
    - é
    - "\\x01"
    replicas: 2
    strategy: {}
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    creationTimestamp: null
    name: worker
  spec:
    args: []
    replicas: 0
    strategy: {}
kind: List"""
KUBECTL_VALUE = {
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "annotations": {
                    "note": "x: y",
                    "script": "set -e\n  run --all\n\nexit 0\n",
                    "text": " leads\nwith a blank",
                    "tail": "keeps its end\n\n",
                },
                "creationTimestamp": "2026-02-16T02:18:08Z",
                "name": "web",
            },
            "spec": {"args": ["-c", "8080", "*", "é", "\x01"], "replicas": 2, "strategy": {}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"creationTimestamp": None, "name": "worker"},
            "spec": {"args": [], "replicas": 0, "strategy": {}},
        },
    ],
    "kind": "List",
}
JS_YAML = """\
services:
  - name: web
    note: |-
      some words that go on and on, and
      more words
        an indented line
      the end
    ports: []
    is_open: true
  - name: '2026'
    note: 🎉 a line
    ports:
      - 80
      - - 1
        - 2"""
COMPOSE = """\
---
on: [push, pull_request]
name: CI


jobs:
  test:
    strategy:
      matrix: { os: [ linux, mac ], python: [ "3.11", '3.12' ] }
    empty:
    other: ~
    yes: null
    flags:
    -   True
    -   False
    -
    env: {A: 1, b: {}, 'c d': [], e: null}"""


def dump(value: object, **options: Any) -> str:
    """Return what PyYAML writes, without the line break at the end."""
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, **options)).removesuffix("\n")


def layout_of(text: str) -> str | None:
    """Return the layout of a text, from which the same text is written."""
    values, _ = read_documents(text)
    form, value = (DOCUMENT, values[0]) if len(values) == 1 else (DOCUMENTS, values)
    layout = form.describe(text, value) if len(values) else None
    if layout is not None:
        assert form.write(value, layout, Expansion(len(text) * 2)) == text
        assert set(layout).isdisjoint(" :<")
    return layout


def is_data(text: str) -> bool:
    whole = read(text).whole
    return whole is not None and whole.form in (DOCUMENT, DOCUMENTS)


def value_of(text: str) -> Any:
    (value,), _ = read_documents(text)
    return value


def test_what_is_usual_needs_no_layout() -> None:
    text = dump({"rows": [{"id": 1, "name": "Ana", "tags": ["a", "0x1f"]}, {"id": 2, "name": "Ben", "tags": []}]})
    assert layout_of(text) == ""
    assert DOCUMENT.write(value_of(text), "", Expansion(len(text))) == text
    with pytest.raises(ExpansionError):
        DOCUMENT.write(value_of(text), "", Expansion(len(text) - 1))


def test_what_kubectl_writes_is_read_and_written_again() -> None:
    assert exactly(value_of(KUBECTL)) == exactly(KUBECTL_VALUE)
    layout = layout_of(KUBECTL)
    assert layout is not None
    assert len(layout) < 40
    crlf = KUBECTL.replace("\n", "\r\n")
    assert exactly(value_of(crlf)) == exactly(KUBECTL_VALUE)
    assert layout_of(crlf) is None


def test_what_js_yaml_writes_is_read_and_written_again() -> None:
    value: Any = value_of(JS_YAML)
    assert value["services"][0]["note"] == (
        "some words that go on and on, and\nmore words\n  an indented line\nthe end"
    )
    assert value["services"][1] == {
        "name": "2026", "note": "🎉 a line", "ports": [80, [1, 2]]
    }  # fmt: skip
    assert layout_of(JS_YAML) is not None


def test_what_people_write_is_read_and_written_again() -> None:
    assert value_of(COMPOSE) == {
        "on": ["push", "pull_request"],
        "name": "CI",
        "jobs": {
            "test": {
                "strategy": {"matrix": {"os": ["linux", "mac"], "python": ["3.11", "3.12"]}},
                "empty": None,
                "other": None,
                "yes": None,
                "flags": [True, False, None],
                "env": {"A": 1, "b": {}, "c d": [], "e": None},
            }
        },
    }
    assert layout_of(COMPOSE) is not None


def test_several_documents_are_rows() -> None:
    text = "kind: A\nspec:\n  size: 1\n---\nkind: B\nspec:\n  size: 2\n\n---\n\nkind: C\nspec: {}"
    whole = read(text).whole
    assert whole is not None
    assert whole.form is DOCUMENTS
    assert whole.value == [
        {"kind": "A", "spec": {"size": 1}},
        {"kind": "B", "spec": {"size": 2}},
        {"kind": "C", "spec": {}},
    ]
    assert whole.how is not None
    assert DOCUMENTS.write(whole.value, whole.how, Expansion(1_000)) == text
    assert [table.columns for table in open_text(text).tables()] == [("kind", "spec.size", "spec")]
    for value in ({"a": 1}, [{"a": 1}], [{"a": 1}, 5]):
        with pytest.raises(ValueError, match="expected"):
            DOCUMENTS.write(value, "", Expansion(1_000))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1 # one\n# two\nb: # three\n  - x # four\n  # five\n  - 'y' # six", {"a": 1, "b": ["x", "y"]}),
        ("a: [1,\n  2, # two\n\n  x y ]\nb: 1", {"a": [1, 2, "x y"], "b": 1}),
        ('a: {b, "c": 2, d:, e: http://x/y}', {"a": {"b": None, "c": 2, "d": None, "e": "http://x/y"}}),
        ("a: [[], {x: [y]}]  # more", {"a": [[], {"x": ["y"]}]}),
        ("a:\n  some words\n  and more\nb: 1", {"a": "some words and more", "b": 1}),
        ("a: some words\n  and\n\n  more", {"a": "some words and\nmore"}),
        ("a: 'some\n  words\n\n  ''and'' more'", {"a": "some words\n'and' more"}),
        ('a: "some \\\n  \\ words\\\n\n  more"', {"a": "some  words\nmore"}),
        ("a: >\n  one\n  two\n\n  three\n   four\n  five\n\nb: >+\n  x\n\nc: 1", {
            "a": "one two\nthree\n four\nfive\n", "b": "x\n\n", "c": 1,
        }),
        ("a: |-\n\n\n  x\nb: >\n\n  y\nc: |\nd: |+\n\ne: 1", {"a": "\n\nx", "b": "\ny\n", "c": "", "d": "\n", "e": 1}),
        ("a: |1-\n  x\nb: 1", {"a": " x", "b": 1}),
        ("a: |\n  x\n      \n  y", {"a": "x\n    \ny\n"}),
        ("-\n  a: 1\n-\n  - b\n-", [{"a": 1}, ["b"], None]),
        ("a: &x\n  b: 1\n  c: 2\nd:\n  <<: *x\n  c: 3\ne:\n- *x # same\n- &y z\n- *y", {
            "a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}, "e": [{"b": 1, "c": 2}, "z", "z"],
        }),
        ("'a b' : 1\n\"c\\n\": 2\nd e: 3", {"a b": 1, "c\n": 2, "d e": 3}),
    ],
)  # fmt: skip
def test_other_yaml_is_read_as_pyyaml_reads_it(text: str, value: object) -> None:
    assert exactly(value_of(text)) == exactly(value)
    assert yaml.safe_load(text + "\n") == value
    layout_of(text)


def test_a_scalar_is_more_than_text_where_all_versions_of_yaml_agree() -> None:
    words = {"": None, "~": None, "NULL": None, "True": True, "false": False, "-5": -5, "12.50": 12.5, "1.0e+3": 1000.0}
    assert {text: plain_value(text) for text in words} == words
    for text in ("yes", "off", "0755", "0x1f", "1_000", "1e3", "12:30", "2026-01-01", ".5", "+1", ".inf", "nULL", "-"):
        assert plain_value(text) == text
    assert repr(plain_value("12.50")) == "12.50"


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb",
        "a: 1\na : 2",
        "a: 1\n  b: 2",
        "a: 'x",
        "a: 'x' y",
        'a: "\\q"',
        'a: "\\ud83d\\ude00"',
        'a: "\\U00110000"',
        'a: "\\',
        "a: b: c",
        "a: !tag x",
        "a: @x",
        "a: - b",
        "a: |x",
        "a:\n\t- b",
        "? a\n: 1",
        "--- a: 1",
        "a:\n- b\n c: 1",
        "a: b\n  # comment\n  c",
        "a: [1, 2",
        "a: [1 2] x",
        "a: [1]x",
        "a: [,]",
        "a: [1: 2]",
        "a: {1 2 }x",
        "a: {[1]: 2}",
        "a: {b: 1, b: 2}",
        "a: {'b' 'c'}",
        "a: ['b' 'c']",
        "a: " + "[" * 40 + "]" * 40,
        "a\u2028: 1",
        "text",
        "a: *b",
        "a: &b\n  c: *b",
        "a: &b x\n---\nc: *b",
        "a0: &a0 [1]\n" + "".join(f"a{n + 1}: &a{n + 1}\n" + f"- *a{n}\n" * 10 for n in range(9)),
        "\n".join(f"{'  ' * depth}a:" for depth in range(70)) + " 1",
        f"{'k' * 300}: 1",
    ],
)
def test_what_is_no_yaml_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_documents(text)


def test_a_map_of_rows_is_data() -> None:
    assert is_data("# made by hand\n\n---\nrows:\n- a: 1\n  b: 2")
    assert is_data("- - a: 1\n    b: 2")
    assert not is_data("")


@pytest.mark.parametrize(
    "layout",
    ["x", "p;0", "p;0.1", "p;0.0*x", "p p;0.0", "l1001;4.0", "p9999;1.0", "9;0.0", "p;0.0,900.0", "2;900.0", "e;1.0"],
)
def test_a_layout_that_does_not_fit_is_refused(layout: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        DOCUMENT.write({"a": "x", "b": [1]}, layout, Expansion(10_000))


def test_a_layout_that_writes_much_is_bounded() -> None:
    with pytest.raises(ExpansionError):
        DOCUMENT.write({"a": {"b": 1}}, "n999;4.0", Expansion(100))


@pytest.mark.parametrize("value", [5, "text", [], {}, None])
def test_what_is_no_document_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected a map or a list with members"):
        DOCUMENT.write(value, "", Expansion(1_000))


def test_a_text_that_differs_at_each_value_has_tables_and_no_view() -> None:
    styles = ("'{}'", '"{}"', "{}")
    lines = [
        f"- a: {styles[number * number % 3].format('x')}\n  b: {styles[number % 2].format('y')}" for number in range(99)
    ]
    text = "\n".join(lines)
    assert len(value_of(text)) == 99
    assert layout_of(text) is None


@pytest.mark.parametrize(
    ("start", "again", "end"),
    [
        ("rows:\n", "- a: 1\n  b: 'x'\n", "- c"),
        ("", "- ", "a"),
        ("a: [", "[", ""),
        ("a: [", "x, ", "]"),
        ("a: 'x", "\n", "'"),
        ('a: "', "x \\\n", '"'),
        ("a: |\n", " x\n\n", "b: 1"),
        ("a: ", "# x\n", "b"),
        ("a: b", ":c #d", ""),
        ("a:\n", "\n  # x\n", "  b: 1"),
    ],
)
def test_a_text_is_read_in_one_pass(start: str, again: str, end: str) -> None:
    def run(size: int) -> None:
        text = f"{start}{again * size}{end}"
        for form in (DOCUMENT, DOCUMENTS):
            form.recognise(text)
        try:
            layout_of(text)
        except ValueError:
            return

    assert grows_in_proportion(run, 200)


PIECES = [
    "word ",
    " ",
    "a",
    "b: ",
    "'",
    '"',
    "- ",
    "\n",
    " #",
    "1",
    "é",
    "\t",
    "longerword ",
    "yes",
    "\\",
    "\x07",
    "🎉",
    WORDS,
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
SCALARS = (
    TEXTS | st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.sampled_from([1.5, -0.25, "1:30", "~"])
)
KEYS = st.sampled_from(["a", "b c", "key", "é", "x-y", "yes", "1", "q:r", "it's", "- a", "a: b", "c #d"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4), st.sampled_from([80, 10**6]))
def test_whatever_pyyaml_writes_comes_back(value: object, width: int) -> None:
    text = dump(value, width=width)
    assert exactly(value_of(text)) == exactly(value)
    layout_of(text)


@given(
    st.lists(st.sampled_from([*PIECES, "a: ", "\nb: ", "\n- c: ", "\n  ", "d:\n", "[", "]", "{", "}", "|", ">"])).map(
        "".join
    )
)
def test_any_text_is_written_again_or_has_no_layout(text: str) -> None:
    try:
        read_documents(text)
    except ValueError:
        return
    layout_of(text)
