"""The bundled counter gives the tokens of the encoding, whatever the text."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base, o200k_base_encoding
from tests.properties.json_values import all_sources, values

blanks = st.lists(
    st.sampled_from(
        [
            " ",
            "  ",
            "\t",
            "\n",
            "\r\n",
            "\xa0",
            "\u2003",
            "\u2028",
            "\x85",
            "\x0b",
            "a",
            "Ab",
            "1",
            "é",
            "中",
            ".",
            "'s",
        ]
    )
).map("".join)


@given(st.text() | blanks | all_sources | values.map(json.dumps))
@example(" ")
@example("a  b")
@example("a \n b")
@example("a\u2003 b\n\n")
@example("don't DON'T we'll I'm")
@example("<|endoftext|>")
def test_every_text_is_counted_as_the_encoding_counts_it(text: str) -> None:
    assert o200k_base()(text) == len(o200k_base_encoding().encode_ordinary(text))
