"""What a view may not say: numbers that no value can hold."""

import pytest

from accp_core import DecodeError, read


@pytest.mark.parametrize("number", ["1e400", "-1E400", "9" * 250 + "e99", "9" * 400 + ".5", "1e+400"])
@pytest.mark.parametrize("text", ["{}", "[1, {}]", '{{"a": {}}}', "a {}"])
def test_a_number_beyond_float64_is_refused_in_json_as_in_any_view(text: str, number: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text.format(number))
    assert refusal.value.code == "E1001"


@pytest.mark.parametrize("text", ["1e300", "1e-400", "[2.5e3, 1E+2]", "9" * 300, '"1e400"'])
def test_other_numbers_and_strings_are_read(text: str) -> None:
    assert read(text) == eval(text)
