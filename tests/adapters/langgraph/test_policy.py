"""The numbers that decide, and their presets."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize(
    ("name", "least"),
    [("inline", 1), ("preview", 60), ("batch", 1), ("fetch", 1), ("abstract", 60), ("argument", 60), ("user", 1)],
)
def test_a_limit_without_room_for_anything_is_refused_by_name(name: str, least: int) -> None:
    Policy(**{"preview_limit": 60, f"{name}_limit": least})
    with pytest.raises(ValueError, match=f"expected the limit '{name}' to be at least {least}, found {least - 1}"):
        Policy(**{f"{name}_limit": least - 1})


def test_presets_have_names() -> None:
    assert [Policy.named(name) for name in ("lossless", "default")] == [Policy.lossless(), Policy()]
    with pytest.raises(ValueError, match="expected a policy of lossless, default, found 'tight'"):
        Policy.named("tight")


def test_more_results_than_the_batch_has_tokens_leave_room_for_a_reference() -> None:
    assert Policy(batch_limit=10).result_limits(11) == ResultLimits(inline=1, preview=60, fetch=1)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"fetch_limit": "much"}, "expected fetch_limit to be a number of tokens, found 'much'"),
        ({"inline_limit": 0.5}, "expected inline_limit to be a number of tokens, found 0.5"),
        ({"preview_limit": None}, "expected preview_limit to be a number of tokens, found None"),
        ({"batch_limit": True}, "expected batch_limit to be a number of tokens, found True"),
        ({"user_limit": 0}, "expected the limit 'user' to be at least 1, found 0"),
        ({"tools": "shell"}, r"expected tools to be like \{'read_\*': 'verbatim'\}, found 'shell'"),
        ({"tools": {"shell": "exact"}}, r"expected tools\['shell'\] to be one of \('as_is', .* found 'exact'"),
        (
            {"tools": {"shell": 400}},
            r"expected tools\['shell'\] to be one of .* ResultLimits or resolve\(…\), found 400",
        ),
        ({"agent_names": "crm"}, "expected agent_names to be several names, .*, found 'crm'"),
    ],
)
def test_a_value_of_another_type_is_refused_by_name_and_value(fields: Any, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        Policy(**fields)


def test_a_counter_that_counts_nothing_and_a_preview_over_the_inline_limit_are_refused() -> None:
    with pytest.raises(TypeError, match="expected counter to be a function, found 'gpt-4o': pass a function"):
        Policy(counter="gpt-4o")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected preview_limit to be at most inline_limit, found 5000 and 100: "):
        Policy(inline_limit=100, preview_limit=5_000)
