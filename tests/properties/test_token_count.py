"""The faster counter of o200k_base gives the numbers of the encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base, o200k_base_encoding
from accp_adapters.tokens.vocabulary import splits_simply

BLANKS = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000"
TEXTS = st.text(st.sampled_from(BLANKS + "aB9é中🙂\u0301'{}\",:/_-\ud800"), max_size=40) | st.text(max_size=60)


@given(TEXTS)
def test_every_text_has_as_many_tokens_as_the_encoding_gives_it(text: str) -> None:
    assert o200k_base()(text) == len(o200k_base_encoding().encode_ordinary(text))


@pytest.mark.parametrize("text", ["", "a b\nc", "a\n\nb", "a \n b", "word\r\nword", "don't 'LL"])
def test_texts_without_two_blanks_in_a_row_split_simply(text: str) -> None:
    assert splits_simply(text)


@pytest.mark.parametrize("text", ["a  b", "a\t b", "a \xa0b", "a\u3000\u3000b", "a\x0b\x0cb"])
def test_texts_with_two_blanks_in_a_row_do_not(text: str) -> None:
    assert not splits_simply(text)
