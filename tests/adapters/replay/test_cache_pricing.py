import pytest

from accp_adapters.replay.replay import Charge, PromptCache, price_prompt


def test_a_prefix_is_cached_from_a_minimum_on_in_steps_of_128() -> None:
    assert price_prompt(1023, 1000) == Charge(1023, 0, 1023.0)
    assert price_prompt(2000, 1300) == Charge(2000, 1280, 1280 * 0.1 + 720 * 1.25)
    assert price_prompt(2000, 1023) == Charge(2000, 0, 2500.0)


def test_a_prompt_pays_little_for_what_the_last_one_of_its_agent_held() -> None:
    cache, part = PromptCache(), list(range(1024))
    first, second = cache.charge("a", [part]), cache.charge("a", [part, [1, 2, 3]])
    assert (first.cost, second.cached) == (1280.0, 1024)
    assert second.cost == pytest.approx(102.4 + 3.75)
    assert cache.charge("b", [part]).cached == 0
    assert cache.charge("a", [list(part)]).cached == 1024
    cache.charge("a", [[7] * 1024])
    assert cache.charge("a", [part]).cached == 0


def test_the_prefix_ends_inside_the_first_part_that_differs() -> None:
    cache = PromptCache()
    cache.charge("a", [list(range(1000)), list(range(500))])
    changed = [*range(300), -1, *range(301, 500)]
    assert cache.charge("a", [list(range(1000)), changed]).cached == 1280
