"""YAML that a tool cut off is read up to the cut, and said to be cut."""

from typing import Any

import pytest

from accp_core.documents import read
from accp_core.documents.cut.cut_yaml import read_cut_yaml
from accp_core.documents.document import Value
from accp_core.documents.yaml import DOCUMENT
from accp_core.tables.source import open_text
from accp_core.view import render_text
from tests.work import grows_in_proportion

yaml: Any = pytest.importorskip("yaml")

NOTE = 'several words of "web" \x1b and more words, until they are longer than a line of eighty columns may be'
PODS: str = yaml.safe_dump(
    {
        "apiVersion": "v1",
        "items": [
            {"kind": "Pod", "status": {"podIP": f"10.0.0.{n}", "note": NOTE, "single": f"it's: {NOTE[25:]}\n"}}
            for n in range(8)
        ],
        "kind": "List",
    }
)


def read_value(text: str) -> Value:
    value = next(iter(read(text).values()))
    assert isinstance(value, Value)
    assert value.form is DOCUMENT
    return value


ITEMS = "apiVersion: v1\nitems:\n" + "  - kind: Pod\n    status: {phase: ok}\n    ready: true\n" * 9
CUTS: dict[str, Any] = {
    "kind: Pod\n    meta": {"kind": "Pod"},
    "metadata:\n      name: web\n      la": {"metadata": {"name": "web"}},
    'note: "several wo': {"note": "several wo"},
    'note: "several words of\n        \\"we': {"note": 'several words of "we'},
    'note: "several words of\n        \\': {"note": "several words of"},
    'note: "several words of \\x1': {"note": "several words of "},
    'note: "several words \\\\': {"note": "several words \\"},
    "note: 'it''s about\n\n        9": {"note": "it's about\n9"},
}


@pytest.mark.parametrize("mark", ["", "\n... [1234 characters omitted]", "\n[output truncated]"])
@pytest.mark.parametrize("end", CUTS)
def test_the_beginning_of_a_key_and_an_open_string_are_a_cut(end: str, mark: str) -> None:
    source = f"{ITEMS}  - {end}{mark}"
    assert read(source).is_cut
    assert open_text(source).is_cut
    value: Any = read_value(source).value
    assert value["items"][-1] == CUTS[end]
    assert render_text(source, counter=len).restore() == source


def test_wherever_the_cut_is_the_source_is_restored() -> None:
    sources = [PODS[:end] for end in range(800, len(PODS), 29)]
    views = [render_text(source, counter=len) for source in sources]
    assert [view.restore() for view in views] == sources
    # Only the first letters of a key without others beside it are text.
    assert sum(view.tokens_after < view.tokens_before for view in views) > 0.95 * len(views)


@pytest.mark.parametrize(
    "end",
    [
        "Done",
        "name: <3 lines omitted> : x",
        "That is all of them.",
        "  that is all of them, or: not",
        'note: "not closed\nkind: List',
        "  - note: \"it's\n  - kind: List",
    ],
)
def test_what_is_no_yaml_behind_it_is_no_cut(end: str) -> None:
    source = PODS + end
    assert not any(value.is_cut for value in read(source).values())


def test_a_long_text_is_read_in_time_that_grows_with_its_length() -> None:
    def source(size: int) -> str:
        return PODS + "note: 'x\n" + "  word: \"a'\n" * size

    assert grows_in_proportion(lambda size: read_cut_yaml(source(size), DOCUMENT), 1_000)
