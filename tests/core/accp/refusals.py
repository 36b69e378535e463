"""Which code a call is refused with."""

from typing import Any

import pytest

from accp_core.errors import ProtocolError


def code_of(call: Any, *arguments: Any, **named: Any) -> str:
    """Return the code of the error that a call raises."""
    with pytest.raises(ProtocolError) as refusal:
        call(*arguments, **named)
    return refusal.value.code
