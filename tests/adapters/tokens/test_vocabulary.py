"""The bundled o200k_base is the published one."""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
import tiktoken
from tiktoken.registry import get_encoding

from accp_adapters.tokens import o200k_base_encoding, vocabulary
from accp_adapters.tokens.vocabulary import O200K_BASE_SHA256, load_o200k_base, o200k_base_ranks, simple_parts

CACHE_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"


PUBLISHED_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the vocabulary file as tiktoken downloads it."""


def published_file() -> bytes:
    """Return the vocabulary file as published, written from the packaged tokens."""
    return b"".join(b"%b %d\n" % (b64encode(token), rank) for token, rank in o200k_base_ranks().items())


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tiktoken.Encoding:
    """Return o200k_base as tiktoken itself builds it, from a cache that needs no network."""
    (tmp_path / CACHE_NAME).write_bytes(published_file())
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    return get_encoding("o200k_base")


def test_the_bundled_encoding_is_that_of_tiktoken(published: tiktoken.Encoding, socket_disabled: None) -> None:
    bundled = o200k_base_encoding()
    assert bundled.name == published.name
    assert bundled.n_vocab == published.n_vocab
    assert bundled.special_tokens_set == published.special_tokens_set
    assert bundled._pat_str == published._pat_str
    assert bundled._special_tokens == published._special_tokens
    assert bundled._mergeable_ranks == published._mergeable_ranks


def test_the_packaged_tokens_are_the_published_ones() -> None:
    assert hashlib.sha256(published_file()).hexdigest() == PUBLISHED_SHA256


def test_both_encodings_have_one_vocabulary() -> None:
    assert load_o200k_base(simple=True)._mergeable_ranks is load_o200k_base()._mergeable_ranks


class Folder:
    """A package whose one file is given."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def joinpath(self, name: str) -> "Folder":
        assert name.startswith("o200k_base")
        return self

    def read_bytes(self) -> bytes:
        return self.content


@pytest.mark.parametrize("spoil", [lambda packed: packed[:-1], lambda packed: packed + b"\n", lambda packed: b""])
def test_another_vocabulary_is_refused(spoil: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    packed = resources.files("accp_adapters.tokens").joinpath("o200k_base.tokens").read_bytes()
    monkeypatch.setattr(vocabulary.resources, "files", lambda package: Folder(spoil(packed)))
    with pytest.raises(ValueError, match=f"expected the o200k_base tokens with sha256 '{O200K_BASE_SHA256}'"):
        o200k_base_ranks.__wrapped__()


@pytest.mark.parametrize("text", ["", "a b\nc", "a\n\nb", "a \n b", "word\r\nword", "don't 'LL", "a  \nb", "a  "])
def test_a_text_without_two_blanks_before_a_word_is_one_part(text: str) -> None:
    assert simple_parts(text) == [text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a  b", ["a ", " b"]),
        ("a\t b", ["a\t", " b"]),
        ("a \xa0b", ["a ", "\xa0b"]),
        ("a\u3000\u3000b", ["a\u3000", "\u3000b"]),
        ("a\x0b\x0cb", ["a\x0b", "\x0cb"]),
        ("a \n   b  c", ["a \n  ", " b ", " c"]),
    ],
)
def test_a_text_is_cut_before_the_last_of_two_blanks(text: str, parts: list[str]) -> None:
    assert simple_parts(text) == parts
    simple = load_o200k_base(simple=True)
    found = [token for part in simple_parts(text) for token in simple.encode_ordinary(part)]
    assert found == o200k_base_encoding().encode_ordinary(text)


def test_each_blank_before_a_word_is_counted_as_the_whole_rule_does() -> None:
    simple, whole = load_o200k_base(simple=True), o200k_base_encoding()
    blanks = [sign for sign in map(chr, range(0x3001)) if sign.isspace()]
    words = ("a", "A", "1", ".", "'s", "\u0301", "")
    for text in (f"x{one}{two}{word}" for one in blanks for two in blanks for word in words):
        found = [token for part in simple_parts(text) for token in simple.encode_ordinary(part)]
        assert found == whole.encode_ordinary(text), repr(text)
