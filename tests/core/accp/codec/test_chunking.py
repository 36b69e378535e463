"""A frame cut into chunks."""

import pytest

from accp_core.accp import Intent
from accp_core.accp.codec.chunking import cut_text, is_frame_chunk
from accp_core.accp.message import Message
from accp_core.errors import EncodeError
from tests.core.accp.session.test_streams import chunk


def test_a_piece_is_a_chunk_of_a_frame() -> None:
    assert is_frame_chunk(chunk(0))
    assert not is_frame_chunk(Message(sender="a", intent=Intent.STREAM, operation="infer", schema="ST"))
    assert not is_frame_chunk(Message(sender="a", intent=Intent.STREAM, operation="frame"))
    assert not is_frame_chunk(Message(sender="a", intent=Intent.REQUEST, operation="frame", schema="ST"))


@pytest.mark.parametrize("guess", [1, 7, 1_000])
@pytest.mark.parametrize("length", [0, 1, 6, 7, 8, 100, 1_000])
def test_a_text_is_cut_into_few_pieces_that_fit(length: int, guess: int) -> None:
    text = "".join(chr(97 + place % 26) for place in range(length))
    pieces = cut_text(text, lambda piece: len(piece) <= 7, guess)
    assert "".join(pieces) == text
    assert [len(piece) for piece in pieces] == [7] * (length // 7) + [length % 7] * (length % 7 > 0)


def test_long_pieces_are_nearly_as_long_as_can_be() -> None:
    pieces = cut_text("x" * 100_000, lambda piece: len(piece) <= 1_000, 10)
    assert all(960 < len(piece) <= 1_000 for piece in pieces[:-1])


@pytest.mark.parametrize("start", ['"', "="])
def test_no_piece_but_the_first_begins_like_a_quoted_form(start: str) -> None:
    assert cut_text(f"{start}{'x' * 6}{start}{'y' * 7}", lambda piece: len(piece) <= 7, 7) == [
        f"{start}xxxxx", f"x{start}yyyyy", "yy",
    ]  # fmt: skip
    assert cut_text(start * 3, lambda piece: len(piece) <= 1, 1) == [start] * 3


def test_a_text_of_which_nothing_fits_is_refused_e2003() -> None:
    with pytest.raises(EncodeError, match="E2003"):
        cut_text("x", lambda piece: False, 5)
