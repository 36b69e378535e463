"""Counters by name: cached, lazy, and without a network."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from accp_adapters.tokens import (
    by_name,
    count_o200k,
    count_remembered,
    counters,
    encode_o200k,
    hugging_face,
    o200k_base,
    o200k_base_encoding,
    remembered_ids,
    tiktoken_encoding,
)
from accp_core.bounded import SizedCache
from tests.work import count_patterns

pytestmark = pytest.mark.disable_socket


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("two words", 2), ('{"a":1}', 5), ("\ud800", 1), ("word " * 1000, 1001)]
)
def test_a_text_is_counted(text: str, tokens: int) -> None:
    assert o200k_base()(text) in range(tokens, tokens + 3)


@pytest.mark.parametrize("special", ["<|endoftext|>", "<|endofprompt|>"])
def test_what_looks_like_a_special_token_is_counted_as_text(special: str) -> None:
    assert o200k_base()(special) > 3
    assert o200k_base()(f"a {special} b") == len(o200k_base_encoding().encode(f"a {special} b", disallowed_special=()))


def test_counters_are_cached() -> None:
    assert o200k_base() is o200k_base()
    assert o200k_base_encoding() is o200k_base_encoding()
    assert tiktoken_encoding("o200k_base") is o200k_base()
    assert by_name("o200k_base") is o200k_base()


def test_the_vocabulary_is_read_when_it_is_needed_first() -> None:
    program = (
        "import hashlib\n"
        "def refuse(data): raise AssertionError('read at import')\n"
        "hashlib.sha256 = refuse\n"
        "import accp_adapters.tokens, accp_core\n"
        "try:\n"
        "    accp_adapters.tokens.o200k_base()('text')\n"
        "except AssertionError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "read at import\n"


@pytest.mark.parametrize("name", ["o200k", "", "gpt-4o", "O200K_BASE"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Unknown encoding"):
        by_name(name)


def test_another_encoding_of_tiktoken_is_counted_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.tokens.counters.tiktoken.get_encoding", lambda name: o200k_base_encoding())
    assert tiktoken_encoding("cl100k_base")("two words") == 2
    tiktoken_encoding.cache_clear()


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> str:
    """Return the path of a tokenizer of words that frames each prompt with special tokens."""
    words = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "two": 3, "words": 4}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return str(path)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("two words", 2), ("two other words", 3), ("[SEP]", 3)])
def test_a_hugging_face_tokenizer_counts_the_text_and_nothing_around_it(
    text: str, tokens: int, tokenizer_file: str
) -> None:
    assert by_name(tokenizer_file)(text) == tokens
    assert by_name(tokenizer_file) is hugging_face(tokenizer_file)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected a tokenizer.json file, found none at '.*other.json'"):
        by_name(str(tmp_path / "other.json"))


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", " \t"])
def test_a_million_blanks_in_a_row_are_counted(blank: str) -> None:
    # tiktoken panics there, with an exception that `except Exception` does not catch.
    run = blank * (1_200_000 // len(blank))
    tokens = o200k_base()(f"a{run}b")
    once = o200k_base()(f"a{run[:100_000]}b")
    assert 11 * once < tokens < 13 * once + 13


@pytest.mark.parametrize("text", ["", "a b", "a  b\n\n\tc", "\u00e9 \u00a0 x", "a" + " " * 1_200_000 + "b"])
def test_the_ids_of_a_text_are_as_many_as_its_tokens(text: str) -> None:
    ids = encode_o200k(text)
    assert len(ids) == count_o200k(text) == count_remembered(text)
    assert remembered_ids(text) == ids
    if len(text) < 100:
        assert list(ids) == o200k_base_encoding().encode_ordinary(text)


LONG = {
    "signs": "=" * 99_999 + " ",
    "blanks": " " * 100_000,
    "a word": "a" * 99_999 + " ",
    "blanks in words": "a" + " " * 99_000 + "b\n\n  c",
    "long words": json.dumps([{"id": n, "name": "a" * 9_999, "sign": "-" * 9_000} for n in range(20)]),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_text_without_a_longer_piece_has_the_tokens_of_tiktoken(text: str) -> None:
    expected = o200k_base_encoding().encode_ordinary(text)
    assert list(encode_o200k(text)) == expected
    assert count_o200k(text) == len(expected)


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    known: SizedCache[str, Sequence[int]] = SizedCache(20_000)
    monkeypatch.setattr(counters, "_known", known)
    for number in range(100):
        assert len(remembered_ids(f"{number} " * 100)) == count_remembered(f"{number} " * 100)
    assert known.size <= 20_000
    assert "99 " * 100 in known
    assert "0 " * 100 not in known


def test_no_pattern_looks_at_each_character_of_a_long_text(monkeypatch: pytest.MonkeyPatch) -> None:
    # No other thread runs while a pattern is looked for.
    text = "lines of words, " * 100_000
    expected = len(o200k_base_encoding().encode_ordinary(text))
    patterns = count_patterns(monkeypatch, counters)
    assert tiktoken_encoding("o200k_base")(text) == expected
    assert sum(pattern.characters for pattern in patterns) == 0


@pytest.mark.parametrize("place", [0, 1, 49_999, 50_001])
def test_a_piece_never_has_more_blanks_in_a_row_than_are_counted_at_once(place: int) -> None:
    for piece in counters._pieces("a" * place + " " * 1_200_000 + "b"):
        assert len(max(piece.split("b")[0].split("a"), key=len)) < 100_000
