"""Values that are no JSON are read as they are meant, and nothing is called cut that did not end too early."""

import json
from typing import Any

import pytest

from accp_core.documents import read
from accp_core.documents.omissions import tell_cut
from accp_core.tables import open_text
from accp_core.view import render_text

VALUES: dict[str, Any] = {
    '[{"a": 1}, {"a": 2}, ]': [{"a": 1}, {"a": 2}],
    '{"a": [1, 2,], // two\n "b": nan, /* none */ "c": +1, # three\n}': {"a": [1, 2], "b": "nan", "c": "+1"},
    '[{"a": "b "c" d"}, {"a": "C:\\Users\\x"}]': [{"a": 'b "c" d'}, {"a": "C:\\Users\\x"}],
    '[{"id": ObjectId("65f0"), "n": NumberLong(5)}]': [{"id": "65f0", "n": 5}],
    "{id: 1, 'at': ISODate('2026-02-22'), x: undefined}": {"id": 1, "at": "2026-02-22", "x": None},
    "{1: 'a'}": {"1": "a"},
    "[('one'), ('two')]": ["one", "two"],
    "[(1, 'a'), (2, f())]": [{"c0": 1, "c1": "a"}, {"c0": 2, "c1": "f()"}],
    "[{'a': {'b'}, 'c': (1,)}]": [{"a": ["b"], "c": [1]}],
    "[Order(id=1, at=datetime.datetime(2026, 1, 2, 3, 0), price=Decimal('1.10')), Order(id=2, at=None, price=7)]": [
        {"id": 1, "at": "2026-01-02T03:00:00", "price": 1.1},
        {"id": 2, "at": None, "price": 7},
    ],
    "orders=[Order(id=1), Order(id=2)] next='x'": {"orders": [{"id": 1}, {"id": 2}], "next": "x"},
    "Order(id=1, state=<State.PAID: 'paid'>)\nOrder(id=2, state=<object at 0x7f>)": [
        {"id": 1, "state": "paid"},
        {"id": 2, "state": "<object at 0x7f>"},
    ],
    "[Point(1, 2, unit='m'), Point(3, 4, unit='\\u00e9m')]": [
        {"c0": 1, "c1": 2, "unit": "m"},
        {"c0": 3, "c1": 4, "unit": "ém"},
    ],
}


@pytest.mark.parametrize("text", VALUES)
def test_what_programs_print_is_read_as_it_is_meant(text: str) -> None:
    opened = open_text(text)
    assert json.loads(json.dumps(opened.value)) == VALUES[text]
    assert not opened.cut
    assert render_text(text, counter=len).restore() == text


@pytest.mark.parametrize(
    "text",
    [
        "[INFO] started",
        "[a, b, c]",
        "[see note]",
        "Order(1)",
        "print(x=1)",
        "f(a='b')\ng(a='b')",
        '{"a": 1, "a": 2, }',
        "['a' 'b', {'c': 1}]",
        "{" * 70 + '"a": 1' + "}" * 70 + ",",
        "['\\ud83d', {'a': 1, }]",
    ],
)
def test_other_words_in_brackets_are_no_value(text: str) -> None:
    assert isinstance(open_text(text).value, str)


ROWS = [json.dumps({"id": n, "tag": f"t{n % 3}"}) for n in range(60)]


@pytest.mark.parametrize("fault", ['{"id": 30, "tag": = "x"}', '{"id": 30 "tag" "t0"}', "{id: 30: 31}"])
def test_a_fault_that_cannot_be_explained_is_no_cut(fault: str) -> None:
    text = "[\n" + ",\n".join([*ROWS[:30], fault, *ROWS[31:]]) + "\n]"
    opened = open_text(text)
    rows = opened.tables()[0].rows
    assert [row["id"] for row in rows[:30]] == list(range(30))
    assert not opened.cut
    assert opened.outside_note.endswith("-60, 62 are in no table; search for words there")
    assert "cut off" not in render_text(text, counter=len).text


def test_what_ends_too_early_is_cut() -> None:
    text = json.dumps([{"id": n, "tag": f"t{n % 3}"} for n in range(60)])[:-40]
    for behind in ("", "\n[Output truncated: 12000 more lines]", "\nTotal: see [the log] for more"):
        assert read(text + behind).cut


@pytest.mark.parametrize(
    ("text", "is_mark"),
    [
        ("[Output truncated: 12000 more lines]", True),
        ("a\n[File truncated: showing 900 of 12900 lines]\nb", True),
        ("@@ lines 1-900 of 12900 | next offset 900 @@", True),
        ("a …1234 tokens truncated… b", True),
        ("… 60 more items", True),
        ("... and 5 more", True),
        ("[12 remaining]", True),
        ("Showing 20 of 340 results", True),
        ("Showing 1-20 of 340", True),
        ("showing 20 of 20", False),
        ("There are 60 more items in stock.", False),
        ("lines 1-5 of the file", False),
        ("Step 3 of 5", False),
        ("[INFO] lines 3 of 5 done", False),
    ],
)
def test_a_mark_is_known_by_what_it_says(text: str, is_mark: bool) -> None:
    assert bool(tell_cut(text)) == is_mark
    assert read(json.dumps([{"a": 1}, {"a": 2}, text])).cut == tell_cut(text)
