"""What the tool costs a model in every call."""

from __future__ import annotations

import json

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_PARAMETERS
from accp_adapters.tokens import count_o200k


def test_the_description_takes_few_tokens() -> None:
    assert count_o200k(FETCH_DESCRIPTION) <= 90
    assert count_o200k(json.dumps(FETCH_PARAMETERS, separators=(",", ":"))) < 50
