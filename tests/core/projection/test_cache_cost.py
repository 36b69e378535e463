"""When a rewriting pays, in the prices of a provider's prompt cache."""

from __future__ import annotations

import pytest

from accp_core.projection.cache_cost import FETCH_TOKENS, PriorPrompt, first_reference_pays, saving_pays


@pytest.mark.parametrize(
    ("before", "after", "prompt", "worth"),
    [
        pytest.param(100, 99, 0, True, id="of an unknown prompt every saving counts"),
        pytest.param(100, 100, 0, False, id="nothing saved"),
        pytest.param(100, 101, 9_000, False, id="larger"),
        pytest.param(300, 253, 9_000, False, id="47 tokens of 9,000 are lost in the rounding"),
        pytest.param(300, 252, 9_000, True, id="48 tokens are not"),
        pytest.param(300, 280, 2_000, True, id="nor is a hundredth of the prompt"),
        pytest.param(578, 167, 718, False, id="just out of the cache costs in each later call"),
        pytest.param(11_000, 150, 100, True, id="far out of the cache pays"),
        pytest.param(300, 200, 900, True, id="above the cache's least on both sides"),
        pytest.param(200, 100, 300, True, id="below it on both sides"),
    ],
)
def test_a_saving_must_outlast_the_rounding_of_the_cache(before: int, after: int, prompt: int, worth: bool) -> None:
    assert saving_pays(before, after, PriorPrompt(tokens=prompt)) is worth


def test_small_savings_pay_behind_others_that_moved_the_end_of_the_cached_part() -> None:
    assert not saving_pays(100, 90, PriorPrompt(tokens=20_000))
    assert saving_pays(100, 90, PriorPrompt(tokens=20_000, saved=38))
    assert not saving_pays(100, 100, PriorPrompt(tokens=20_000, saved=5_000))


@pytest.mark.parametrize(
    ("saved", "prompt", "pays"),
    [
        pytest.param(1, PriorPrompt(tokens=50_000, has_references=True), True, id="the tool is offered already"),
        pytest.param(FETCH_TOKENS, PriorPrompt(), False, id="no more than the tool takes"),
        pytest.param(FETCH_TOKENS + 1, PriorPrompt(tokens=1_000), True, id="a prompt that is not cached"),
        pytest.param(5_000, PriorPrompt(tokens=6_000), False, id="less than writing the prompt again"),
        pytest.param(6_000, PriorPrompt(tokens=6_000), True, id="more than that"),
    ],
)
def test_the_first_reference_pays_for_the_tool_that_opens_it(saved: int, prompt: PriorPrompt, pays: bool) -> None:
    assert first_reference_pays(saved, prompt) is pays
