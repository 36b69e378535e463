"""What a short text may expand to: `read` and `restore` refuse more before it is built, `render` never asks for it."""

import json
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import DecodeError, read, render, render_text
from accp_core.documents.json_layout import describe_json
from accp_core.packing.expansion import ExpansionLimits, size_of
from accp_core.view.layout import restore
from accp_core.view.notation import AS_IS, NOTATION
from tests.core.view.bombs import BOMBS

bomb = pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)


def peak_of(run: Callable[[], object]) -> int:
    """Return the bytes of memory that `run` takes at most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@bomb
def test_a_text_that_stands_for_too_much_is_refused_before_it_is_built(text: str) -> None:
    def run() -> None:
        with pytest.raises(DecodeError, match="expected a result within the limits") as refusal:
            read(text)
        assert refusal.value.code == "E2003"
        assert 0 <= refusal.value.position < len(text)

    assert peak_of(run) < 2_000_000 + 60 * len(text)


@bomb
@pytest.mark.parametrize("layout", ["o{}", "p{}"])
def test_no_layout_makes_a_source_of_such_a_text(text: str, layout: str) -> None:
    inner = INDENTED if "!json4" in text else ""
    documents = f"&{inner}" * text.count("!json")
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout.format(f'{documents}:{len(text)}')}")
    assert refusal.value.code == "E2003"


DEEP = json.loads("[" * 150 + "1, " * 2000 + "1" + "]" * 150)
INDENTED = describe_json(json.dumps(DEEP, indent=4), [DEEP])
INDENTED_LINES = describe_json(f"{json.dumps(DEEP, indent=4)}\n1", [DEEP, 1])
SOURCES = {
    "an indentation of many levels": ("[" * 150 + "1, " * 2000 + "1" + "]" * 150, f"o{INDENTED}:{{}}"),
    "escapes of letters": (f"a {'é' * 1000}", "o!ffff;u;0.0:{}"),
    "escapes in a literal": (f'"""\n{chr(1) * 1000}\n"""', "q( t:1000 )"),
    "escapes in Python": (f"a {chr(0x202E) * 1000}", "p:{}"),
    "lines of JSON": ("[2]:\n" + "[" * 150 + "1, " * 2000 + "1" + "]" * 150 + "\n1", f"n{INDENTED_LINES}:{{}}"),
}


@pytest.mark.parametrize(("text", "form"), SOURCES.values(), ids=SOURCES)
def test_a_source_is_measured_before_it_is_written(text: str, form: str) -> None:
    layout = f"{NOTATION} {form.format(len(text))}"
    source = restore(text, layout, limits=ExpansionLimits(times=1000))
    assert len(source) > len(text)
    assert restore(text, layout, limits=ExpansionLimits(times=1000, size=len(source))) == source
    with pytest.raises(DecodeError) as refusal:
        restore(text, layout, limits=ExpansionLimits(times=1000, size=len(source) - 1))
    assert refusal.value.code == "E2003"
    assert refusal.value.position == (len(text) if form.startswith("q") else 0)


BOMBS_OF_COLUMNS = {
    "keys many times": f"{{100}} key: a {' '.join(f'c{n}==key' for n in range(1000))}\n"
    + "\n".join([f"{'y' * 1000}{n} 1" for n in range(100)]),
}


@pytest.mark.parametrize("text", BOMBS_OF_COLUMNS.values(), ids=BOMBS_OF_COLUMNS)
def test_columns_that_repeat_something_are_measured_before_they_are_built(text: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text)
    assert refusal.value.code == "E2003"


REPETITIVE: dict[str, object] = {
    "a string in every place": ["the same words and more of them, again and again, without an end" * 9] * 400,
    "a map in every place": [{"a": ["the same words"] * 30, "b": {"c": "and more of them"}}] * 400,
    "arrays of arrays": [[["the same words"] * 12] * 12] * 12,
    "rows with a large constant": [{"n": n, "schema": {"a": ["the same words"] * 30}} for n in range(400)],
    "rows of constants": [{f"name{number}": "the same words" for number in range(40)}] * 400,
    "documents in rows": [json.dumps({"a": ["the same words"] * 30}, indent=4)] * 400,
    "deep documents": json.dumps(json.dumps(json.dumps(["the same words", 'and "quotes"'] * 30, indent=4))),
}


@pytest.mark.parametrize("value", REPETITIVE.values(), ids=REPETITIVE)
def test_no_view_is_written_that_the_default_limits_refuse(value: object) -> None:
    view = render(value, counter=len)
    assert read(view) == value
    source = json.dumps(value, indent=4)
    shown = render_text(source, counter=len)
    assert restore(shown.text, shown.layout) == source


def test_no_view_is_written_that_is_just_beyond_the_default_limits() -> None:
    """A repeated document of digits adds nearly twice its characters: its members, and its text."""
    for uses in range(24, 28):
        value = [json.dumps([1] * 1500, separators=(",", ":"))] * uses
        assert read(render(value, counter=len)) == value


@pytest.mark.parametrize("name", ["a string in every place", "rows with a large constant", "documents in rows"])
def test_a_value_of_many_repetitions_is_written_less_densely_and_not_as_json(name: str) -> None:
    value = REPETITIVE[name]
    assert 15 * len(render(value, counter=len)) < len(json.dumps(value))


def test_an_indentation_that_the_limits_do_not_restore_is_left_alone() -> None:
    value: object = [1] * 200
    for _ in range(45):
        value = [value]
    source = json.dumps(value, indent=4)
    shown = render_text(source, counter=len)
    assert shown.layout == AS_IS


PIECES = [
    "[9] (a=1) b c{(d=2) e}\n", "{9} key: (a=x) b\n", "[:(a=", "[:a (b=7): ",
    ") b: ", "&1 ", "&2 ", "*1", "*2", "[*1, *1]", "!json ", "!json4 ",
    "[", "]", "{", "}", ": ", ";", ", ", "\n", "k ", "x", "1", "-", '"y"', "1; 2; 3", "k &1 [x, x, x]\n",
    "l &2 [*1, *1, *1]\n", "m [*2, *2]\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "=", "é",
]  # fmt: skip


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30), times=st.integers(1, 50))
def test_whatever_is_read_is_within_its_limits(pieces: list[str], times: int) -> None:
    text = "".join(pieces)
    limits = ExpansionLimits(times=times)
    try:
        value = read(text, limits=limits)
    except DecodeError as refusal:
        assert refusal.code in ("E1001", "E2003")
        assert 0 <= refusal.position <= len(text)
        return
    assert size_of(value) <= limits.of(len(text)) + len(text)
