"""Each kind of place of the notation, with every text that could be taken for something else there."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from accp_core import read
from accp_core.strict_json import compact_json
from accp_core.view import Options
from accp_core.view.render_value import render_tree
from tests.core.exactly import exactly

SIGNS = [*'-*&{}[]";,:=$?!()\\#/', '""', '"""']
WORDS = [
    "", " ", "a", "a b", " a", "a ", "true", "false", "null", "5", "-5", "007", "1e5", "*1", "&1 a", "{}", "[]",
    "{a 1}", "[a]", "[:a: 1]", "[2] a b", "[3]:", "{2} key: a", "list: a", "key: a", "A: a", "A a", "p=1", "q=1", "p q",
    "null: p", "True", "NaN", "…", "...", "p:", "p: q", "(p)", "${p}/q", "!json 1", "!json{", "$p", "${p}",
    "https://a.example/$p", "a\nb", "a\nb\nc\nd",
    '"""\na\n"""', 'a\n"""\n""""\nb', 'a\nb\nc\n"d"', "a\r\nb",
    "\t", "\x01", "\x010\x01", "\u2028", "\ud800", "é", "日本", "😀", "a long text that stands in several places",
    *SIGNS, *[f"{sign}a" for sign in SIGNS], *[f"a{sign}" for sign in SIGNS], *[f"a{sign} b" for sign in SIGNS],
]  # fmt: skip
OTHERS = ["x", "y z", 3, None, "w, v"]


def rows(place: Callable[[object], dict[str, Any]]) -> Callable[[str], object]:
    """Return what makes rows of which the second has the text in its place."""
    return lambda text: [place(OTHERS[0]), place(text), *map(place, OTHERS[1:])]


def of_words(place: Callable[[object], dict[str, Any]]) -> Callable[[str], object]:
    """Return what makes rows of single words, and the text."""
    return lambda text: [place(each) for each in ["u", text, "v", "w", "x", "y", "z"]]


def few(make: Callable[[object], dict[str, Any]], text: object) -> list[dict[str, Any]]:
    """Return nine rows, of which one has a member that the others lack."""
    return [{"p": at, **(make(text) if at == 4 else {}), "q": f"q={at}"} for at in range(9)]


PLACES: dict[str, Callable[[str], object]] = {
    "document": lambda text: text,
    "key": lambda text: {text: 1, f"{text} ": {text: {text: "two words", "b": "c d"}}},
    "pair": lambda text: {"p": text, "q": [{"p": text}]},
    "keys of one literal": lambda text: {"p": None, text: None, "q": None, "r": None},
    "array in a line": lambda text: [text, 1, text],
    "array over lines": lambda text: ["a text of so many characters that it needs a line", text, {"p": text}],
    "arrays": lambda text: [[text], [text, "x"], []],
    "arrays as rows": lambda text: [["u", text, 1], [text, "v", 2], ["w", "x y", 3], ["z", text, 4]],
    "name of a column": lambda text: [{text: 1, f"{text}p": 2}, {text: 3, f"{text}p": 4}],
    "cell that a blank ends": of_words(lambda value: {"p": value, "q": 1, "r": "a b"}),
    "cell that a comma ends": rows(lambda value: {"p": value, "q": "x", "r": "a"}),
    "last cell": rows(lambda value: {"p": 1, "q": value}),
    "only cell": rows(lambda value: {"p": value}),
    "constant": lambda text: [{"p": 1, "q": text, "r": 2}, {"p": 3, "q": text, "r": 5}],
    "map in a row": of_words(lambda value: {"m": {"p": value, "q": value}, "n": "a"}),
    "map that some rows lack": of_words(lambda value: {"m": {"p": value, "q": f"{value} b"} if value != "v" else None}),
    "map at the end of a row": rows(lambda value: {"n": "a", "m": {"p": "a", "q": value}}),
    "row in brackets": rows(lambda value: {"n": "a", "m": [{"p": value, "q": value}, {"p": value, "q": 1}]}),
    "words in brackets": of_words(lambda value: {"m": [{"p": value, "q": value}, {"p": "v", "q": value}], "n": 1}),
    "maps in brackets": of_words(lambda value: {"m": [{"o": {"p": value, "q": value}}, {"o": {"p": 1, "q": value}}]}),
    "list in a row": rows(lambda value: {"n": "a", "m": [value, value], "o": value}),
    "lists in a row": rows(lambda value: {"n": "a", "m": [[value], [value, 1]]}),
    "cell of few rows": lambda text: few(lambda value: {"r": value}, text),
    "cell of few rows that ends them": lambda text: [{"p": at, **({"r": text} if at == 4 else {})} for at in range(9)],
    "few rows in brackets": lambda text: [{"n": n, "m": few(lambda value: {"r": value}, text)} for n in range(3)],
    "behind the cells of few rows": lambda text: [
        {"p": at, **({"q": 1} if at == 4 else {}), **({"r": 2} if at == 7 else {}), "s": text if at % 2 else "a"}
        for at in range(20)
    ],
    "map of maps": lambda text: {f"{text}{at}": {"p": at, "q": text, "r": f"{at} b"} for at in range(4)},
    "map of maps with its key": lambda text: {
        f"{text} {at} long": {"p": f"{text} {at} long", "q": at} for at in range(4)
    },
    "map of maps in a row": lambda text: [
        {"n": n, "m": {f"{text}{at}": {"p": text} for at in range(3)}} for n in range(3)
    ],
    "rows of kinds": lambda text: [
        {"p": at, "q": text, "r": "a"} if at % 2 else {"s": text, "t": "a b", "u": at, "v": text} for at in range(12)
    ],
    "beside rows of kinds": lambda text: [
        text, *({"p": at, "q": text} if at % 2 else {"s": text, "t": at, "u": at, "v": 1} for at in range(12))
    ],
    "beside rows": lambda text: [{"p": 1, "q": "a b"}, text, {"p": 2, "q": "c d"}, {}, {"p": 3, "q": "e"}],
    "repeated row": lambda text: [{"p": f"{text} and many more words", "q": "which is long"}, {"p": 1, "q": 2}] * 2,
    "repeated value": lambda text: {"a": f"{text} and many more words", "b": [f"{text} and many more words"]},
    "address": lambda text: {
        "url": "https://a.example/users/somebody", "next": f"https://a.example/users/somebody{text}"
    },
    "addresses": lambda text: [
        {"id": f"{text}{at}", "url": f"https://a.example/of/everybody/{text}{at}/next"} for at in range(4)
    ],
    "document in a string": lambda text: {
        "p": json.dumps({"q": text, "r": [{"s": text}] * 2}), "t": json.dumps([text, 1])
    },
    "document in a cell": lambda text: [{"p": json.dumps({"q": text}), "r": at} for at in range(3)],
}  # fmt: skip
"""What makes a value with a text in the place of that name."""


@pytest.mark.parametrize("place", PLACES)
def test_every_text_is_read_back_from_every_place(place: str) -> None:
    for text in WORDS:
        value = PLACES[place](text)
        view = render_tree(value, compact_json(value), counter=len, options=Options())
        assert view is not None
        assert exactly(read(view)) == exactly(value), (text, view)
