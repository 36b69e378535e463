"""The numbers that decide, and their presets."""

from __future__ import annotations

import pytest

from accp_adapters.langgraph import Policy
from accp_core.compression import ResultLimits


def test_a_single_result_may_take_the_inline_limit() -> None:
    assert Policy().result_limits() == ResultLimits()


def test_parallel_results_share_the_batch_limit() -> None:
    policy = Policy(inline_limit=4_000, preview_limit=1_000, batch_limit=6_000)
    assert policy.result_limits(3) == ResultLimits(inline=2_000, preview=1_000, fetch=2_000)
    assert policy.result_limits(12) == ResultLimits(inline=500, preview=500, fetch=500)


def test_a_share_too_small_for_a_preview_still_lets_it_name_the_reference() -> None:
    assert Policy(batch_limit=100).result_limits(50) == ResultLimits(inline=2, preview=60, fetch=2)


def test_lossless_never_previews() -> None:
    policy = Policy.lossless()
    assert not policy.previews
    assert policy.result_limits(100).inline is None


def test_the_draft_has_the_budgets_of_the_draft() -> None:
    draft = Policy.draft()
    assert (draft.preview_limit, draft.batch_limit) == (100, 500)
    assert draft.previews
    assert not draft.cache_aware


def test_tight_previews_more_than_the_default() -> None:
    assert Policy.tight().result_limits() == ResultLimits(inline=600, preview=400)


@pytest.mark.parametrize(
    ("name", "least"), [("inline", 1), ("preview", 60), ("batch", 1), ("fetch", 1), ("abstract", 60)]
)
def test_a_limit_without_room_for_anything_is_refused_by_name(name: str, least: int) -> None:
    Policy(**{f"{name}_limit": least})
    with pytest.raises(ValueError, match=f"expected the limit '{name}' to be at least {least}, found {least - 1}"):
        Policy(**{f"{name}_limit": least - 1})


def test_more_results_than_the_batch_has_tokens_leave_room_for_a_reference() -> None:
    assert Policy(batch_limit=10).result_limits(11) == ResultLimits(inline=1, preview=60, fetch=1)
