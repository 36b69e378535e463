"""A tool result as text: fewer tokens, and the same bytes back."""

import json
import re

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import View, render_text
from accp_core.view import Options
from accp_core.view.layout import AS_IS
from tests.core.view.payloads import logs, records, webhook

counter = o200k_base()


def viewed(source: str, options: Options | None = None) -> View:
    """Return the view of `source`, which must give it back and cost no more."""
    view = render_text(source, counter=counter, options=options)
    assert view.restore() == source
    assert view.tokens_before == counter(source)
    assert view.tokens_after == counter(view.text) <= view.tokens_before
    assert (view.layout == AS_IS) == (view.text == source)
    assert not [part for part in view.layout.split(" ") if part.endswith(":0")]
    return view


def result(text: str, **more: object) -> str:
    """Return how an agent prints the result of an MCP tool into a message."""
    extra = "".join(f" {name}={value!r}" for name, value in more.items())
    return f"meta=None content=[TextContent(type='text', text={text!r}, annotations=None)]{extra} isError=False"


REPRS = {
    "lines": result('first line\n\nsecond line, it\'s longer\n\tthird "line"\n' * 3),
    "indented JSON": result(json.dumps(records(5), indent=2)),
    "JSON that ends with a line break": result(json.dumps(records(5), indent=2) + "\n"),
    "two literals": result(json.dumps(webhook(), indent=2), stderr="a\nb\nc\nd\ne\nf\n\n\n\n"),
    "letters and escapes": result("é 中 😀\n\x00\x1b[0m\x85\n\u2028\n'\"\\ and more\n"),
    "an escaped emoji in JSON": result('{"a": "\\ud83d\\ude00", "b": ["some text", "some text", "some text"]}'),
    "triple quotes": result('one\n"""\ntwo\n"""\n' * 4),
    "a dataclass": "Result(data='" + "a line.\\n\\n\\n\\n\\t" * 12 + "', code=0)",
}


@pytest.mark.parametrize("source", REPRS.values(), ids=REPRS)
def test_the_text_in_a_repr_is_read_without_escapes(source: str) -> None:
    view = viewed(source)
    view.text.encode()


@pytest.mark.parametrize("numbers", [("1.50", "1.5"), ("1.50", "1.500"), ("1E5", "1e5"), ("-0", "0"), ("-0.0", "0.0")])
def test_repetitions_that_differ_in_how_a_number_is_written_come_back(numbers: tuple[str, str]) -> None:
    part = '{"name": "somebody with a name", "why": "because of this and that", "price": %s}'
    viewed(f"[{', '.join(part % number for number in numbers * 2)}]")
    viewed(json.dumps({"a": f"[{', '.join(part % number for number in numbers * 2)}]", "b": part % numbers[0]}))


def test_a_document_that_would_not_shrink_stays_where_others_shrink() -> None:
    small = '{"id":[1,2,[3,4]]}'
    view = viewed(f"a: {small}\nb: {json.dumps(records(4))}\n")
    assert view.text.startswith(f"a: {small}\nb: [4] employee_id")
    assert view.layout.startswith(f"v4 t:{len(small) + 7} o")


@pytest.mark.parametrize("text", ['"\\u00001.50\\u0000"', '"x"', '"\\u00001.5"'])
def test_a_text_like_a_placeholder_stays_a_text_next_to_spelled_numbers(text: str) -> None:
    viewed(f'{{"a": 1.50}}\n{{"a": {text}}}')
    viewed(f'[{{"a": 1.50, "b": "x"}}, {{"a": {text}, "b": "x"}}]')
    viewed(json.dumps([f'{{"a": {text}, "b": 1}}', '{"a": 1.50, "b": 1}']))


def test_an_escaped_surrogate_stays_escaped() -> None:
    view = viewed(json.dumps([{**record, "broken": f"\ud800{record['employee_id']}"} for record in records(4)]))
    assert view.layout.startswith("v4 o@:")
    view.text.encode()


def test_a_counter_that_sees_no_gain_leaves_the_text() -> None:
    assert render_text(json.dumps(records(3)), counter=lambda text: 1).layout == AS_IS


def test_deep_json_in_a_text_stays_json() -> None:
    source = json.dumps({"a": json.loads("[" * 60 + "1" + "]" * 60), "b": ["some words"] * 20}, indent=2)
    assert viewed(source).text == json.dumps(json.loads(source), separators=(",", ":"))


def test_deep_json_keeps_the_letters_of_its_source() -> None:
    value: object = "é"
    for number in range(60):
        value = [value, number]
    shown = render_text(json.dumps(value, ensure_ascii=False), counter=len)
    assert shown.text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_where_a_view_has_more_tokens_than_compact_json_that_is_shown() -> None:
    assert viewed(json.dumps([[1, 2], [3, 4]], indent=2)).text == "[[1,2],[3,4]]"


HALVES = {
    "in JSON": '{"a": "\ud83d\ude00 and some words", "b": "and some words, and some words"}',
    "in a key": '{"\ud83d\ude00": "and some words, and some words"}',
    "in lines of JSON": '{"a": "\ud83d\ude00"}\n{"a": "some words"}',
    "raw and escaped": '{"a": "\ud83d\\ude00 and some words", "b": "and some words, and some words"}',
    "in JSON that was cut off": '{"a": "\ud83d\ude00", "b": [' + '"some words", ' * 40,
    "in a document in a text": 'x\n{"a": "\ud83d\ude00", "b": "some words"}\n',
    "in a string that holds JSON": '{"a": "{\\"b\\": \\"\ud83d\ude00\\"}", "c": "some words, and some words"}',
    "behind a document": '{"a": "some words", "b": "and some words, and some words"}\n\ud83d\ude00',
    "one half": '{"a": "\ud83d and some words", "b": "and some words, and some words"}',
    "the other order": '{"a": "\ude00\ud83d and some words", "b": "and some words, and some words"}',
}


@pytest.mark.parametrize("source", HALVES.values(), ids=HALVES)
def test_raw_halves_of_a_surrogate_pair_come_back_as_they_were(source: str) -> None:
    view = render_text(source, counter=len)
    assert view.restore().encode("utf-8", "surrogatepass") == source.encode("utf-8", "surrogatepass")


SIX = [{"id": number, "status": "open", "amount": 10 * number} for number in range(6)]
CSV = "\n".join(["id,status,amount", *[",".join(map(str, row.values())) for row in SIX]])


@pytest.mark.parametrize("table", [json.dumps(SIX), CSV, json.dumps(SIX[-1] | {"note": "x" * 9}, indent=2)])
@pytest.mark.parametrize("below", ["\n6 open 99", "\r\n6 open 99", "\n\u200b\n6", "\nsource text:\n6"])
def test_what_stands_below_a_table_is_no_row_of_it(table: str, below: str) -> None:
    view = viewed(f"Orders:\n{table}{below}")
    assert re.search(r"\n(\S* ?50|note x+)\nsource text:\r?\n\S", view.text)
    assert "source text:" not in viewed(f"Orders:\n{table}\n \n6 open 99").text
    assert viewed(table + "\n \n").text.count("source") == 0


def test_lines_of_json_whose_last_one_was_cut_off_end_with_a_line_that_says_so() -> None:
    lines = "\n".join([json.dumps(entry) for entry in logs(20)])
    view = viewed(lines[:-9])
    assert view.text.startswith("[19] ts level ")
    assert "\n[cut off here in the source]\n{" in view.text


def test_documents_of_yaml_with_block_texts_are_rendered() -> None:
    document = 'kind: Job\nmetadata:\n  name: job-{0}\n  created: "2026-01-0{0}"\nrun: |\n  set -e\n  run {0}\n'
    documents = [document.format(number) for number in range(1, 5)]
    view = viewed("---\n".join(documents))
    assert " Y" in view.layout
    assert view.tokens_after < 0.65 * view.tokens_before
