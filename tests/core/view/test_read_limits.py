"""What a view may not say: numbers that no value can hold."""

import pytest

from accp_core import DecodeError, read, render


@pytest.mark.parametrize("number", ["1e400", "-1E400", "9" * 250 + "e99", "9" * 400 + ".5", "1e+400"])
@pytest.mark.parametrize("text", ["{}", "[1, {}]", '{{"a": {}}}', "a {}"])
def test_a_number_beyond_float64_is_refused_in_json_as_in_any_view(text: str, number: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text.format(number))
    assert refusal.value.code == "E1001"


@pytest.mark.parametrize("text", ["1e300", "1e-400", "[2.5e3, 1E+2]", "9" * 300, '"1e400"'])
def test_other_numbers_and_strings_are_read(text: str) -> None:
    assert read(text) == eval(text)


def test_references_to_references_cannot_fill_the_memory() -> None:
    lines = ["a &1 [ha, ha]"]
    lines += [f"b{number} &{number} [{', '.join([f'*{number - 1}'] * 10)}]" for number in range(2, 14)]
    with pytest.raises(DecodeError, match="expected fewer copies"):
        read("\n".join(lines))


def test_a_value_that_is_hundreds_of_times_its_view_is_written_as_json() -> None:
    value: object = ["the same words"] * 10
    for _ in range(4):
        value = [value] * 12
    assert read(render(value, counter=len)) == value
    assert render(value, counter=len).startswith("[[[[[")


def test_a_value_that_repeats_itself_less_is_written_once() -> None:
    value = [["the same words", "and more of them"] * 20] * 200
    view = render(value, counter=len)
    assert "*1" in view
    assert read(view) == value
