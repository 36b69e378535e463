"""A tool result as text: fewer tokens, and the same bytes back."""

import json

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, ResultLimits, View, compress, read, render_text
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


AROUND = {
    "nothing": ("", ""),
    "a line break behind": ("", "\n"),
    "carriage return and line break behind": ("", "\r\n"),
    "blanks around": ("  \n\t", " \n\n "),
    "prose around": ("Here is the result:\n", "\nThat was all of it."),
    "a word before": ("Result: ", ""),
    "a line with a trailing blank": ("The first.\n", "  \nThe second."),
    "lines that end in carriage returns": ("One.\r\n", "\r\nTwo.\r\n"),
    "a fence of code": ("```json\n", "\n```\n"),
}


@pytest.mark.parametrize(("before", "behind"), AROUND.values(), ids=AROUND)
def test_json_in_any_place_is_rendered_and_comes_back(before: str, behind: str) -> None:
    source = before + json.dumps([{**record, "city": "São Paulo"} for record in records(6)], indent=2) + behind
    view = viewed(source)
    assert view.text.startswith(before)
    assert view.text.endswith(behind)
    assert view.tokens_after < 0.7 * view.tokens_before


@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_json_lines_are_one_table(separators: tuple[str, str], ensure_ascii: bool) -> None:
    lines = [json.dumps(entry, separators=separators, ensure_ascii=ensure_ascii) for entry in logs(20)]
    lines[3] = lines[3].replace("checkout", json.dumps("chéckout", ensure_ascii=ensure_ascii)[1:-1])
    view = viewed("\n".join(lines) + "\n")
    assert view.text.startswith("[20] ts level service")
    assert view.layout.startswith("v3 n")


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


TEXTS_AS_IS = {
    "nothing": "",
    "prose": "The order was paid. It ships on Monday.\n",
    "prose with brackets": "See [1] and {the other}: [sic] {x: 1}.\n[2] too.",
    "code": 'x = {"a": 1, "b": [1, 2, 3]}\nprint({"a": 1, "b": 2}, {"a": 1, "b": 2})\nreturn [{"a": 1}]\n',
    "a quotation": 'He said "{"a": 1, "b": 2}" and left.',
    "an open document": 'Result: {"a": [1, 2, {"b": "some text", ',
    "a document with a word behind": '{"id": 1, "name": "Ana", "city": "Lima"} and more\n',
    "a short document in prose": 'Result: {"a": 1}\n',
    "a document of numbers in prose": "Result: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n",
    "an empty document": "{}",
    "a key twice": '{"a": 1, "a": 2, "b": "some text", "c": "some text"}',
    "brackets without end": '[{"a":' * 50_000,
    "brackets without end in prose": "Result: " + "[" * 100_000 + "\n",
}


@pytest.mark.parametrize("source", TEXTS_AS_IS.values(), ids=TEXTS_AS_IS)
def test_text_that_is_no_json_stays_as_it_is(source: str) -> None:
    assert viewed(source).layout == AS_IS


@pytest.mark.parametrize("numbers", [("1.50", "1.5"), ("1.50", "1.500"), ("1E5", "1e5"), ("-0", "0"), ("-0.0", "0.0")])
def test_repetitions_that_differ_in_how_a_number_is_written_come_back(numbers: tuple[str, str]) -> None:
    part = '{"name": "somebody with a name", "why": "because of this and that", "price": %s}'
    viewed(f"[{', '.join(part % number for number in numbers * 2)}]")
    viewed(json.dumps({"a": f"[{', '.join(part % number for number in numbers * 2)}]", "b": part % numbers[0]}))


def test_documents_in_a_text_are_rendered_and_the_rest_stays() -> None:
    code = 'x = [{"id": 1, "name": "a", "city": "b"}, {"id": 2, "name": "c", "city": "d"}]'
    document = json.dumps(records(4), indent=2)
    view = viewed(f"First:\n{document}\nThen `code`:\n{code}\nand last: {json.dumps(webhook())}\nBye.")
    assert view.text.startswith("First:\n[4] employee_id")
    assert f"\nThen `code`:\n{code}\nand last: " in view.text
    assert view.text.endswith("\nBye.")
    assert view.layout.count(" o") == 2


def test_a_document_that_would_not_shrink_stays_where_others_shrink() -> None:
    small = '{"id":[1,2,[3,4]]}'
    view = viewed(f"a: {small}\nb: {json.dumps(records(4))}\n")
    assert view.text.startswith(f"a: {small}\nb: [4] employee_id")
    assert view.layout.startswith(f"v3 t:{len(small) + 7} o")


@pytest.mark.parametrize("text", ['"\\u00001.50\\u0000"', '"x"', '"\\u00001.5"'])
def test_a_text_like_a_placeholder_stays_a_text_next_to_spelled_numbers(text: str) -> None:
    viewed(f'{{"a": 1.50}}\n{{"a": {text}}}')
    viewed(f'[{{"a": 1.50, "b": "x"}}, {{"a": {text}, "b": "x"}}]')
    viewed(json.dumps([f'{{"a": {text}, "b": 1}}', '{"a": 1.50, "b": 1}']))


def test_an_escaped_surrogate_stays_escaped() -> None:
    view = viewed(json.dumps([{**record, "broken": f"\ud800{record['employee_id']}"} for record in records(4)]))
    assert view.layout.startswith("v3 os1;4.0,1.0!ffff;u;0.0:")
    view.text.encode()


def test_options_reach_the_documents() -> None:
    source = json.dumps(webhook())
    assert "*1" in viewed(source).text
    assert "*1" not in viewed(source, Options(repeated_values=False)).text


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


def test_each_long_text_is_counted_once() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    render_text(json.dumps({"a": "x y " * 1000, "b": [1, 2, 3]}, separators=(",", ":")), counter=count)
    long = [text for text in counted if len(text) > 3000]
    assert len(long) == len(set(long)) <= 4


def test_a_document_with_nothing_before_it_is_not_counted_apart_from_its_source() -> None:
    counted: set[str] = set()

    def count(text: str) -> int:
        counted.add(text)
        return len(text)

    document = json.dumps(records(6))
    for source in (f"{document}\n", f"\n{document}\n"):
        render_text(source, counter=count)
        assert source in counted
    assert document not in counted
    render_text(f"Some words: {document}", counter=count)
    assert document in counted


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


CUT = json.dumps([{**record, "city": "São Paulo"} for record in records(12)], indent=2)


@pytest.mark.parametrize("mark", ["", "... [truncated]", "\n\n[Output truncated: 5,000 characters left out]", "…\n\n"])
@pytest.mark.parametrize("before", ["", "Result:\n", "{broken}\n"])
@pytest.mark.parametrize("chars", [500, len(CUT) - 1])
def test_json_that_was_cut_off_ends_with_a_line_that_says_so(before: str, chars: int, mark: str) -> None:
    view = viewed(before + CUT[:chars] + mark)
    assert view.text.startswith(f"{before}[")
    assert "\n[cut off here in the source]" in view.text[-100 - len(mark) :]
    assert view.text.endswith(mark)
    assert view.tokens_after < 0.7 * view.tokens_before


def test_lines_of_json_whose_last_one_was_cut_off_end_with_a_line_that_says_so() -> None:
    lines = "\n".join([json.dumps(entry) for entry in logs(20)])
    view = viewed(lines[:-9])
    assert view.text.startswith("[19] ts level ")
    assert "\n[cut off here in the source]\n{" in view.text


def test_lines_of_json_inside_other_text_are_one_table() -> None:
    lines = "\n".join([json.dumps(entry) for entry in logs(20)])
    view = viewed(f"The log:\n{lines}\n(20 lines)\n")
    assert view.text.startswith("The log:\n[20] ts level ")
    assert view.text.endswith("\n(20 lines)\n")


def test_yaml_is_rendered() -> None:
    rows = [
        {"server_name": "files", "tool_name": name, "args": {"path": "a path"}} for name in ("read", "write", "list")
    ]
    lines = ["success: true", "matched_tools:"]
    for row in rows:
        lines += [
            f"- server_name: {row['server_name']}",
            f"  tool_name: {row['tool_name']}",
            "  args:",
            "    path: a path",
        ]
    view = viewed("\n".join(lines) + "\n")
    assert view.layout.startswith("v3 y:")
    assert view.text.startswith("success true\n")
    assert view.tokens_after < 0.7 * view.tokens_before


def test_documents_of_yaml_with_block_texts_are_rendered() -> None:
    document = 'kind: Job\nmetadata:\n  name: job-{0}\n  created: "2026-01-0{0}"\nrun: |\n  set -e\n  run {0}\n'
    documents = [document.format(number) for number in range(1, 5)]
    view = viewed("---\n".join(documents))
    assert " Y" in view.layout
    assert view.tokens_after < 0.65 * view.tokens_before


def test_text_around_a_view_is_not_read_as_a_part_of_its_last_value() -> None:
    for source in (
        '[{"id": 1, "name": null}, {"id": 2, "name": null}] \n',
        '[{"id": 1, "b": "c"}, {"id": 2, "b": "d"}] \n',
    ):
        view = viewed(source)
        assert view.layout != AS_IS
        with pytest.raises(DecodeError) as refusal:
            read(view.text)
        assert (refusal.value.code, refusal.value.position) == ("E1001", len(view.text) - 2)


@pytest.mark.parametrize(
    "text",
    [
        "- one\n- two\n- three\n",
        "Dear Ana,\nThanks: a lot.\n",
        "Note: one\ntwo\nthree",
        "Error: File not found",
        "Echo: hi",
        "TODO: fix",
        "done: 6 of 40\n",
        "Warning: this is not safe. Do not use in production.",
        "Thought: I should search\nAction: search\nAction Input: cats",
        "User: hi\nAssistant: hello",
        "exitcode: 1\nCode output: unknown language",
        "From: ana@example.com\nTo: ben@example.com\nSubject: the second invoice\nBody: We have paid it.",
        "Steps:\n- open the door\n- close the door behind you",
        "- US GDP in 2024: $29.017 trillion\n- share of New York: 7.87%",
        "Result:\n  Reason: the disk is full",
        "Summary:\n  Problem: The disk is full.\n  Fix: Delete the old logs.",
        "---\ntitle: A page\ndate: 2026-01-01\n---\n# A heading\n\nAnd text.",
        "class A:\n  x: int\n  y: int",
        "Notes:\n- why: The disk is full.\n  fix: Delete the old logs.",
        "User: hi\n---\nAssistant: hello",
    ],
)
def test_prose_that_looks_like_yaml_stays(text: str) -> None:
    assert viewed(text).layout == AS_IS
    assert compress(text, limits=ResultLimits(), counter=counter).text == text


def test_a_repr_that_was_cut_off_is_read_up_to_the_cut() -> None:
    whole = result(json.dumps(webhook(), indent=2))
    view = viewed(whole[: len(whole) * 3 // 4])
    assert '="""\n' in view.text
    assert not view.text.endswith('"""')
    assert "\n[cut off here in the source]" in view.text
    assert view.tokens_after < 0.5 * view.tokens_before


def test_yaml_in_a_repr_is_rendered() -> None:
    rows = [
        f"- server: files\n  tool: {name}\n  args:\n    path: a path\n" for name in ("read", "write", "list", "find")
    ]
    view = viewed(result("success: true\ntools:\n" + "".join(rows)))
    assert "success true\ntools [4] (server=files) tool (args={path a path})\nread\n" in view.text
    assert view.layout.startswith("v3 t:49 q( y:")


def test_a_text_with_triple_quotes_in_a_repr_stands_in_a_longer_fence() -> None:
    code = 'def f():\n    """Return."""\n    return 1\n'
    source = f"meta=None content=[TextContent(type='text', text={code!r})]"
    view = viewed(source)
    assert f'text=""""\n{code}\n"""")]' in view.text
    assert view.restore() == source
