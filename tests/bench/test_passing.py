"""What a model passes on by a reference arrives as it is."""

from __future__ import annotations

import pytest

from accp_adapters.tokens import count_o200k
from tests.bench.passing import MOVES, Move, moved


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.name)
def test_it_arrives_exactly_for_a_call_of_a_few_tokens(move: Move) -> None:
    assert 20_000 <= len(move.wanted) <= 320_000
    given, written = moved(move)
    assert given == move.wanted
    assert count_o200k(written) <= 50
