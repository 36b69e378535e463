"""Tokens of frames and their limits; here a character is a token."""

import pytest

from accp_core.accp.budget import (
    DRAFT_LIMITS,
)


@pytest.mark.requirement("3.4-1")
def test_the_draft_limits_are_those_of_table_3() -> None:
    assert (DRAFT_LIMITS.header_soft, DRAFT_LIMITS.header_hard) == (5, 10)
    assert (DRAFT_LIMITS.body_soft, DRAFT_LIMITS.body_hard) == (50, 200)
    assert (DRAFT_LIMITS.metadata_soft, DRAFT_LIMITS.metadata_hard) == (10, 30)
    assert (DRAFT_LIMITS.total_soft, DRAFT_LIMITS.total_hard) == (65, 240)
