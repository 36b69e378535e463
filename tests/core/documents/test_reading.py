"""The documents in a text, with the style of each."""

import json
from functools import partial

import pytest

from accp_core.documents import Value, read, reading
from accp_core.tables import open_document
from accp_core.view import render_text
from tests.work import count_calls

COMPACT = '{"a":1,"b":"c d","e":"f g"}'
LINES = "\n".join(['{"a": 1, "b": "c d"}', '{"a": 2, "b": "é"}'.replace("é", "e")])
ROWS = json.dumps([{"id": number, "name": f"name {number}"} for number in range(20)])


def form_of(part: Value) -> str:
    return f"{part.form.CODE}{'?' if part.how is None else ''}"


def values_of(source: str) -> list[Value]:
    return list(read(source).values())


@pytest.mark.parametrize(
    ("source", "forms"),
    [
        ("", []),
        ("prose", []),
        (' {"a":1,"b":2}\n', ["o"]),
        ('{"a":1}\n{"a":2}', ["n"]),
        ('first:\n{"a": 1, "b": "c d"}\nsecond: [{"a": 1, "b": 2}]', ["o", "o"]),
        ('first:\n{"a": 1, "b": "c d"', []),
        ('first:\n{"a": 1, "b" : "c d"}\n', ["o"]),
        (f"first:\n{LINES}\n{LINES}", ["n"]),
        (f"{LINES}\n\n{LINES}", ["n"]),
        (f"{LINES}\n{COMPACT}\nlast", ["n"]),
        (f"x: {LINES}\nlast", ["o", "o"]),
        (f"{COMPACT}\n{json.dumps([{'a': 1, 'b': 2}], indent=2)}\nlast", ["o", "o"]),
        (f"{LINES}\n{COMPACT[:-5]}", ["n"]),
        (f"first: {ROWS[:-20]}", ["o"]),
        (f"{LINES}\n{ROWS[:-20]}", ["n", "o"]),
        (f"{ROWS[:-20]}\n{LINES}", ["o", "n"]),
        (f"first: {ROWS[:190]}", []),
        ("{}", ["o"]),
        ('"a text"\n"{another}"', []),
        ('first: {"a":1,"b":2345}\n', ["o"]),
        ('first: {"a":1,"b":234}\n', []),
        (f"f(a='one\\ntwo\\nthree\\n')\n{COMPACT}", ["o"]),
        (f"first: {ROWS.replace('1, ', '1 , ', 1)[:-20]}", ["o"]),
        ('{"a": 1}\n[2]', ["n"]),
        ('[1]\n{"a": "é"}', ["n"]),
        ('"{a text}"', ["o"]),
        ("'{a text}'", []),
        ("{'a': 'say \"yes\"'}", ["p"]),
        ('["a", "b"]', ["o"]),
        (r"Result(a='one\ntwo34567')", []),
        ("[True, None, 1]", []),
        (r"{'a': '\ud83d', 'b': 'some text'}", []),
        (f'first: {{"rows": {ROWS[:-20]}', ["o"]),
        ('first:\n{"a" : 1, "b": {"c": 1, "d": "e f"}\n}\n', ["o"]),
        ("Result(a='one\\ntwo\\nthree\\n',\nb='one\\ntwo\\nthree\\n')", []),
    ],
)
def test_documents_are_found_with_the_style_of_each(source: str, forms: list[str]) -> None:
    parts = list(read(source).values())
    assert list(map(form_of, parts)) == forms
    assert all(0 <= part.start < part.end <= len(source) for part in parts)


@pytest.mark.parametrize(("openings", "documents"), [(5, 1), (100, 0)])
def test_a_document_behind_openings_is_found_as_long_as_they_are_few(openings: int, documents: int) -> None:
    source = "[\n" * openings + f"x: {COMPACT}\n"
    assert len(values_of(source)) == documents


def test_each_document_is_where_its_text_is() -> None:
    source = f"one:\n{LINES}\ntwo: {ROWS[:-20]}... [truncated]\n"
    lines, cut = values_of(source)
    assert (source[lines.start : lines.end], lines.cut) == (LINES, None)
    assert cut.cut == cut.end - cut.start
    assert json.loads(source[cut.start : cut.end] + "}]") == cut.value


@pytest.mark.parametrize("place", [0, 1, 2, 6, 7])
@pytest.mark.parametrize("broken", ['{"n":', '{"n":5,"v"{"n":6}', '{"n":5}{"n":6}', f'{{"n":[{"9," * 99}', "…"])
def test_a_line_that_is_no_json_is_no_row_and_hides_none(place: int, broken: str) -> None:
    lines = [json.dumps({"n": "x" * 5 * size}) for size in range(9)]
    document = read("\n".join([*lines[:place], broken, *lines[place:]]))
    opened = open_document(document)
    assert ([*map(json.dumps, opened.records)], opened.cut) == (lines, "")
    assert document.lines_outside == ((place + 1, place + 1),)


SHAPES = {
    "openings": '{"a":[\n',
    "openings in prose": 'x: ["\n',
    "openings behind blanks": f"{' ' * 50}{{ \n",
    "quotes behind colons": ": [\"'",
    "short documents": '{"a": 1, "b": "c d"} x\n',
    "cut documents": f"x: {ROWS[:-20]}\n",
    "cut lines": f'{{"id": 1, "v": ["{"x" * 300}", {{"a": [1], "t\n',
    "openings of literals": "=' =\" ",
    "escapes in literals": "a='\\n\\",
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_work_grows_with_the_length_of_the_text(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    characters = []
    for size in (20_000, 80_000):
        with monkeypatch.context() as patched:
            counted = count_windows(patched)
            source = "f(first " + shape * (size // len(shape))
            calls = count_calls(partial(values_of, source))
            characters.append(calls + sum(counted))
    assert characters[1] < 6 * characters[0] + 1000


def count_windows(patched: pytest.MonkeyPatch) -> list[int]:
    """Return the lengths of the texts that the JSON decoder is given from now on: an error counts all their lines.

    Each bracket behind what was cut off is one more.
    """
    lengths: list[int] = []
    decoder, brackets = reading._DECODER, reading._BRACKET

    class Counting:
        def raw_decode(self, text: str) -> tuple[object, int]:
            lengths.append(len(text))
            return decoder.raw_decode(text)

        def finditer(self, text: str, start: int, end: int = 10**9) -> object:
            return filter(lambda _: lengths.append(1) is None, brackets.finditer(text, start, end))

    patched.setattr(reading, "_DECODER", Counting())
    patched.setattr(reading, "_BRACKET", Counting())
    return lengths


def test_halves_of_a_surrogate_pair_are_left_as_they_are() -> None:
    source = '{"a": "\ud83d\ude00", "b": "some text"}'
    assert render_text(source, counter=len).layout == "as-is"
    assert render_text(source.replace("\ude00", " \ude00"), counter=len).layout.startswith("v4 o")
