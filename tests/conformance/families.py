"""The specifications whose requirements are kept as data; `make conformance` prints a table for each."""

from collections.abc import Iterator
from typing import Final

from tests.conformance import (
    aacp_requirements,
    aci_requirements,
    acp_requirements,
    binding_requirements,
    requirements,
)
from tests.conformance.requirement import Family, Requirement

__all__ = ["FAMILIES", "every_requirement"]

FAMILIES: Final[tuple[Family, ...]] = (
    requirements.FAMILY,
    binding_requirements.FAMILY,
    aacp_requirements.FAMILY,
    aci_requirements.FAMILY,
    acp_requirements.FAMILY,
)


def every_requirement() -> Iterator[Requirement]:
    """Yield the requirements of all families."""
    return (requirement for family in FAMILIES for requirement in family.requirements)
