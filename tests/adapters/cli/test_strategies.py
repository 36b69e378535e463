import sys
from dataclasses import dataclass

import pytest

from accp_adapters.cli.errors import ExtraMissing
from accp_adapters.cli.replay.strategies import StrategyName, strategy_named
from accp_adapters.cli.replay.strategy import Birth, previewing
from accp_adapters.tokens import o200k_base
from tests.adapters.cli.runs import answers

LONG = "\n".join(f"line {number} says something about subject {number * 7}" for number in range(900))


@dataclass(frozen=True)
class Limits:
    inline: int | None = 100
    preview: int = 80


def birth(text: str) -> Birth:
    return Birth(message=answers(text, 0), request="subject 700")


@pytest.mark.parametrize("name", StrategyName)
def test_every_name_is_a_strategy(name: StrategyName) -> None:
    assert strategy_named(name, o200k_base()).rewrite(birth("short")).text == "short"


def test_the_default_policy_previews_what_is_too_long_and_says_where_the_rest_is() -> None:
    sent = strategy_named(StrategyName.DEFAULT, o200k_base()).rewrite(birth(LONG))
    assert sent.ref.startswith("$cold.")
    assert sent.ref in sent.text
    assert o200k_base()(sent.text) < o200k_base()(LONG)


def test_the_default_policy_brings_its_fetch_tool_and_lossless_needs_none() -> None:
    assert '"name":"accp_fetch"' in strategy_named(StrategyName.DEFAULT, o200k_base()).fetch_tool
    assert strategy_named(StrategyName.LOSSLESS, o200k_base()).fetch_tool == ""


def test_the_same_text_gets_the_same_reference() -> None:
    strategy = previewing(o200k_base(), limits=lambda beside: Limits(), fetch_tool="")
    assert strategy.rewrite(birth(LONG)) == strategy.rewrite(birth(LONG))


def test_without_an_inline_limit_nothing_is_previewed() -> None:
    strategy = previewing(o200k_base(), limits=lambda beside: Limits(inline=None), fetch_tool="")
    assert strategy.rewrite(birth(LONG)).ref == ""


def test_a_preview_that_would_not_be_shorter_is_not_used() -> None:
    strategy = previewing(o200k_base(), limits=lambda beside: Limits(inline=1, preview=60), fetch_tool="")
    assert strategy.rewrite(birth("a b c")).text == "a b c"


def test_the_limits_depend_on_the_results_of_the_same_turn() -> None:
    asked: list[int] = []

    def limits(beside: int) -> Limits:
        asked.append(beside)
        return Limits()

    previewing(o200k_base(), limits=limits, fetch_tool="").rewrite(Birth(message=answers("x", 0), beside=3))
    assert asked == [3]


def test_without_langgraph_the_default_policy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accp_adapters.langgraph", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'accp-middleware\[langgraph\]'"):
        strategy_named(StrategyName.DEFAULT, o200k_base())
