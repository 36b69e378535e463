"""What a text of JSON takes in memory while it is read: counted exactly, in pieces, and beside the event loop."""

from __future__ import annotations

import asyncio
import json
import random
import re

import pytest

from accp_adapters.serving import bodies
from accp_adapters.serving.bodies import weight_of
from tests.work import count_calls

STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
PARTS = ["", "[", "{,", '"', "\\", '\\"', "a\\\\", "é", "字", "🦊", "n,\n", '["x"]', "long" * 30]


def expected(data: bytes, *, opens_strings: bool) -> int:
    outside = data if opens_strings else STRING.sub(b"", data)
    values = outside.count(b",") + outside.count(b"[")
    text = data.decode("utf-8", "surrogatepass")
    widest = max([4 if "\\ud" in text else 2 if "\\u" in text else 1, *map(width, text)])
    return len(data) + widest * len(text) + 48 * values + 200 * outside.count(b"{")


def width(character: str) -> int:
    return 1 if character < "\u0100" else 2 if character < "\U00010000" else 4


def value(chance: random.Random, depth: int = 4) -> object:
    match chance.randrange(5 if depth else 2):
        case 0:
            return chance.choice(PARTS) + chance.choice(PARTS)
        case 1:
            return chance.randrange(1000)
        case 2 | 3:
            return [value(chance, depth - 1) for _ in range(chance.randrange(6))]
    return {chance.choice(PARTS): value(chance, depth - 1) for _ in range(3)}


@pytest.mark.parametrize("opens_strings", [False, True])
async def test_values_are_counted_where_no_string_holds_them(
    monkeypatch: pytest.MonkeyPatch, *, opens_strings: bool
) -> None:
    monkeypatch.setattr(bodies, "_EXACT", 0)
    chance = random.Random(7)
    for piece in (1, 2, 3, 7, 64):
        monkeypatch.setattr(bodies, "_PIECE", piece)
        for number in range(300):
            data = json.dumps(value(chance, depth=chance.randrange(5)), ensure_ascii=number % 2 == 0).encode()
            assert await weight_of(data, opens_strings=opens_strings) == expected(data, opens_strings=opens_strings)


async def test_a_large_text_is_counted_beside_the_loop() -> None:
    data = b"[" + b'"",' * 1_000_000 + b"1]"
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.ensure_future(count())
    assert await weight_of(data) == expected(data, opens_strings=False)
    others.cancel()
    assert turns > 1


def test_the_work_on_a_text_is_done_in_pieces() -> None:
    """Others get the interpreter between two calls, each of which has one piece at most."""
    data = b'"\\",[{"' * 1_000_000
    assert count_calls(lambda: bodies._weighed(data, opens_strings=False)) > len(data) // bodies._PIECE
