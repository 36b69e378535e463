"""What an agent's work cost: calls of its model and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_core.aci.checks import Json, is_map, violation
from accp_core.error_codes import ErrorCode

__all__ = ["NO_USAGE", "Usage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls and tokens, as the models reported them; they add up with `+`.

    Raises:
        ProtocolError: E1004, a number is not a whole number from 0.
    """

    calls: int = 0
    """Calls of a model."""
    input_tokens: int = 0
    """Tokens that models read."""
    output_tokens: int = 0
    """Tokens that models wrote."""

    def __post_init__(self) -> None:
        for number in (self.calls, self.input_tokens, self.output_tokens):
            if type(number) is not int or number < 0:
                raise violation(ErrorCode.INVALID_TYPE, "a whole number from 0", number)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )

    def to_json(self) -> dict[str, Json]:
        """Return the numbers that are not 0."""
        numbers = {"calls": self.calls, "input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        return {name: number for name, number in numbers.items() if number}

    @classmethod
    def from_json(cls, data: Json) -> Usage:
        """Return the usage that `to_json` wrote.

        Raises:
            ProtocolError: E1004, it is something else.
        """
        if not is_map(data) or not set(data) <= {"calls", "input_tokens", "output_tokens"}:
            raise violation(ErrorCode.INVALID_TYPE, "calls, input_tokens and output_tokens", data)
        return cls(**data)


NO_USAGE: Final = Usage()
"""No call and no token."""
