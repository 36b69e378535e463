"""Frames drawn from the ABNF of section 3.1: each is read, and none is changed."""

import random
import re
import string
from typing import Any, Final

import pytest

from accp_core.accp import Ref, parse_frame

DELIMITERS: Final = "@>:{}[]|$,~\\"
SAFE: Final = [chr(code) for code in range(0x21, 0x7F) if chr(code) not in DELIMITERS]
OWN: Final = re.compile(r'".*"|=([\[{].*|-?\d+(\.\d+)?([eE][-+]?\d+)?)')
"""What stands for another value: our forms of strings, of JSON and of decimals."""
NAMES: Final = string.ascii_letters + string.digits + "_"


class Stranger:
    """Writes frames by the grammar, and knows their values."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def name(self) -> str:
        return "".join(self.dice.choices(NAMES, k=self.dice.randint(1, 8)))

    def text(self) -> tuple[str, Any]:
        first = self.dice.choice(["", "", "=", '"', '="', "=-", '"%'])
        chosen = [self.dice.choice([*SAFE, *DELIMITERS, '"', "%", "="]) for _ in range(self.dice.randint(1, 8))]
        value = first + "".join(chosen)
        if OWN.fullmatch(value):
            return self.text()
        return "".join(f"\\{each}" if each in DELIMITERS else each for each in value), value

    def value(self, depth: int = 0) -> tuple[str, Any]:
        kind = self.dice.choice(["text"] * 6 + ["int", "bool", "null", "ref"] + ["list", "map"] * (depth < 3))
        if kind == "text":
            return self.text()
        if kind == "int":
            number = self.dice.randint(-(10**12), 10**12)
            return f"{number}", number
        if kind == "bool":
            return self.dice.choice([("true", True), ("false", False)])
        if kind == "null":
            return "~", None
        if kind == "ref":
            key = self.name()
            return f"${key}", Ref(key)
        members = [self.value(depth + 1) for _ in range(self.dice.randint(0, 3))]
        if kind == "list":
            return f"[{','.join(text for text, _ in members)}]", [value for _, value in members]
        named = {f"{self.name()}{index}": member for index, member in enumerate(members)}
        written = ",".join(f"{name}:{text}" for name, (text, _) in named.items())
        return f"{{{written}}}", {name: value for name, (_, value) in named.items()}

    def frame(self) -> tuple[str, dict[str, Any]]:
        params = {f"{self.name()}{index}": self.value() for index in range(self.dice.randint(0, 4))}
        written = "|".join(f"{name}:{text}" for name, (text, _) in params.items())
        text = f"@{self.name()}>req:{self.name()}{{{written}}}[mid:{self.name()},seq:{self.dice.randint(0, 999)}]"
        return text, {name: value for name, (_, value) in params.items()}


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_the_grammar_are_read_as_they_are(seed: int) -> None:
    """ACCP 3.1: "string = 1*( safe-char / escaped-char )"."""
    stranger = Stranger(seed)
    for _ in range(5_000):
        text, params = stranger.frame()
        assert plain(parse_frame(text, strict=True).params) == plain(params)


def plain(value: Any) -> Any:
    """Return a value in which what has no escape and reads as a number is one, as the grammar has it."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return f"{value}" if isinstance(value, int | float | str) else value


@pytest.mark.parametrize(
    "text", ["=A1+B2", '"hello', "=5", "=true", '="x"', '"%zz"', '"a"b"', "=", '"', "=nullable", "=1.5.2"]
)
def test_a_string_that_begins_like_one_of_our_forms_is_a_string(text: str) -> None:
    assert parse_frame(f"@a>req:op{{k:{text}}}", strict=True).params == {"k": text}


@pytest.mark.parametrize(
    ("text", "value"), [('"5"', "5"), ('"a_b"', "a b"), ("=null", None), ("=0.12345678", 0.12345678), (r"=\[1\]", [1])]
)
def test_our_own_forms_are_read_as_what_they_stand_for(text: str, value: object) -> None:
    assert parse_frame(f"@a>req:op{{k:{text}}}", strict=True).params == {"k": value}
