"""JSON inside strings, packed where the same bytes can be written again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.documents.json_forms import pack_embedded_json, unpack_embedded_json
from accp_core.documents.json_styles import STYLES, read_styled_json, write_styled_json
from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.packing.tree import EmbeddedJson
from accp_core.packing.values import SpelledFloat
from tests.core.exactly import exactly
from tests.work import count_calls

RICH = {
    "id": 7,
    "tags": ["a", "b c"],
    "city": "São Paulo",
    "a/b": "<&='>\u2028\\/",
    "n": [1, 1.0, True, None, -0.0, 1e22, 1e-07, 10**40],
    "": {},
}
PLAIN = {"id": 7, "tags": ["a", "b c"], "none": [], "map": {}, "a/b": "<&='>"}


@pytest.mark.parametrize("style", STYLES)
def test_a_document_of_each_style_is_read_and_written_to_the_same_bytes(style: str) -> None:
    text = write_styled_json(RICH, style)
    document = read_styled_json(text)
    assert document is not None
    assert exactly(document[0]) == exactly(RICH)
    assert document[1] == style
    assert write_styled_json(*document) == text


@pytest.mark.parametrize("style", [style for style in STYLES if "u" not in style])
def test_a_document_in_ascii_needs_no_letter_for_raw_unicode(style: str) -> None:
    text = write_styled_json(PLAIN, style + "u")
    assert read_styled_json(text) == (PLAIN, style)


WRITTEN_BY_OTHERS = {
    "Go: json.Marshal": ('{"text":"\\u003ca\\u003e \\u0026 São Paulo\\u2028 /=\'"}', "0hu"),
    "Go: json.MarshalIndent, ASCII": ('{\n  "a": "\\u003c",\n  "b": []\n}', "2h"),
    "Rails: to_json": ('["\\u003e = é"]', "0hu"),
    "Gson: toJson": ('{"a":"\\u003d\\u0027\\u003c/"}', "0g"),
    "PHP: json_encode": ('{"url":"https:\\/\\/example.org\\/S\\u00e3o"}', "0s"),
    "PHP: JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE": ('{\n    "url": "a\\/b \\\\\\/ ã"\n}', "4su"),
}
"""JSON as the encoders of other languages write it by default, and the code of the style."""


@pytest.mark.parametrize(("text", "style"), WRITTEN_BY_OTHERS.values(), ids=WRITTEN_BY_OTHERS)
def test_the_escapes_of_other_languages_have_a_style(text: str, style: str) -> None:
    assert read_styled_json(text) == (json.loads(text), style)
    assert write_styled_json(json.loads(text), style) == text
    assert pack_embedded_json([text]) == [EmbeddedJson(json.loads(text), style)]


@pytest.mark.parametrize(("style", "separator"), [("", ", "), ("2", ",\n  ")])
def test_a_number_keeps_its_spelling_in_a_line_and_over_lines(style: str, separator: str) -> None:
    written = write_styled_json([SpelledFloat("1.50"), "1.50", {"a": SpelledFloat("1E5")}, [1]], style)
    assert written.replace("\n", "").replace(" ", "") == '[1.50,"1.50",{"a":1E5},[1]]'
    assert written.count(separator) == 3


def test_what_is_not_json_is_not_written() -> None:
    for style in STYLES:
        with pytest.raises(TypeError):
            write_styled_json([{"a": object()}], style)


UNUSUAL = {
    "NaN": "[NaN]",
    "a number beyond a float": "[1e999]",
    "a key twice": '{"a": 1, "a": 2}',
    "other blanks": '{"a" : 1}',
    "an indentation of no style": '[\n     1\n]',
    "an indentation that changes": '[\n  1,\n   2\n]',
    "escaped and raw letters": '["\\u00e9", "é"]',
    "an escaped and a raw solidus": '["\\/", "/"]',
    "an escaped and a raw sign of HTML": '["\\u003c", "<"]',
    "a line break at the end": "[1]\n",
    "prose": "[see below]",
    "too many brackets": "[" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_what_no_style_writes_is_not_read(text: str) -> None:
    assert read_styled_json(text) is None
    assert pack_embedded_json([text]) == [text]


@pytest.mark.parametrize("text", ['"a"', "1", "null", "[]", "{}", "[ ]", "", "[", "[1", "1]", "x[1]"])
def test_a_string_that_is_no_filled_array_or_map_stays_a_string(text: str) -> None:
    assert pack_embedded_json(text) == text


def test_documents_are_packed_at_every_depth() -> None:
    inner = json.dumps({"x": [1, 2]}, indent=2)
    value = {"a": [json.dumps({"b": inner}), None], "c": {"d": "[1,2]"}, "e": 1}
    packed = pack_embedded_json(value)
    assert packed == {
        "a": [EmbeddedJson({"b": EmbeddedJson({"x": [1, 2]}, "2")}, ""), None],
        "c": {"d": EmbeddedJson([1, 2], "0")},
        "e": 1,
    }
    assert exactly(unpack_embedded_json(packed)) == exactly(value)


@pytest.mark.parametrize("value", [None, 1, 1.0, True, "x", [], {}, ["x", {"a": None}]])
def test_a_value_without_documents_stays_as_it_is(value: object) -> None:
    assert exactly(pack_embedded_json(value)) == exactly(value)
    assert exactly(unpack_embedded_json(value)) == exactly(value)


def test_the_key_of_a_map_is_never_packed() -> None:
    assert pack_embedded_json({"[1, 2]": 1}) == {"[1, 2]": 1}


def test_documents_within_documents_are_written_within_a_limit() -> None:
    value: object = "x"
    for _ in range(100):
        value = EmbeddedJson(value, "")
    with pytest.raises(ExpansionError) as refusal:
        unpack_embedded_json(value, Expansion(1000))
    assert refusal.value.sign == "!json"


def test_the_limit_counts_all_documents_together_and_each_character_once() -> None:
    value = [EmbeddedJson([1], "0")] * 4
    assert unpack_embedded_json(value, Expansion(12)) == ["[1]"] * 4
    with pytest.raises(ExpansionError):
        unpack_embedded_json(value, Expansion(11))
    assert unpack_embedded_json(EmbeddedJson([EmbeddedJson([1], "0")], "0"), Expansion(7)) == '["[1]"]'


def scalars() -> st.SearchStrategy[object]:
    """Return values without members, with all kinds of characters that some style escapes."""
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(SpelledFloat("1.500"))
    return (
        st.none()
        | st.booleans()
        | numbers
        | st.text()
        | st.sampled_from(['\x00\n"\\', "é中😀\x7f\u2028", "<a href='/?b=\\/&c'>", ""])
    )


VALUES = st.recursive(scalars(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(value=JSON_VALUES)
def test_any_value_is_written_as_the_standard_library_writes_it(value: object) -> None:
    assert write_styled_json(value, "2") == json.dumps(value, indent=2)
    assert write_styled_json(value, "tu") == json.dumps(value, indent="\t", ensure_ascii=False)


@given(value=VALUES, style=st.sampled_from(sorted(STYLES)))
def test_the_characters_of_what_is_written_are_counted(value: object, style: str) -> None:
    text = write_styled_json(value, style)
    assert write_styled_json(value, style, Expansion(len(text))) == text
    with pytest.raises(ExpansionError):
        write_styled_json(value, style, Expansion(len(text) - 1))


def test_indentation_is_counted_before_it_is_written() -> None:
    value: object = list(range(10_000))
    for _ in range(300):
        value = [value]
    assert count_calls(lambda: refused(value)) < 300_000


def refused(value: object) -> None:
    with pytest.raises(ExpansionError):
        write_styled_json(value, "4", Expansion(100_000))


def test_a_string_that_looks_like_a_placeholder_has_no_style() -> None:
    assert read_styled_json(r'["\u00001.5\u0000"]') is None
