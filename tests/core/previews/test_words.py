"""The words of a text, also of a script that has no blanks between them."""

from __future__ import annotations

import pytest

from accp_core.previews.words import find_words, requested_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which orders of north-west are late?", ["Which", "orders", "of", "north-west", "are", "late"]),
        ("naïve a@b.example x/y_z", ["naïve", "a@b.example", "x/y_z"]),
        ("已退货的订单", ["已退", "退货", "货的", "的订", "订单"]),
        ("订单-123, 是 OK", ["订单", "123", "是", "OK"]),
        ("東京タワー2号", ["東京", "京タ", "タワ", "ワー", "2"]),
        ("서울의 주문 상태", ["서울", "울의", "주문", "상태"]),
        ("北京/上海 서울/부산 a@上海", ["北京", "上海", "서울", "부산", "a", "上海"]),
    ],
)
def test_words_are_found(text: str, expected: list[str]) -> None:
    assert find_words(text) == expected


def test_a_request_names_words_of_three_letters_or_two_characters_of_han() -> None:
    assert requested_words("is A-7 in 上海?") == {"a-7", "上海"}
