"""What the specifications require, as `requirements.json` has it, and which tests say that they show it.

A requirement is a sentence with a key word of RFC 2119, or an item of a list that such a sentence introduces, in the
words of its specification. Its id is the section and a number, "3.7-1" or "aci:5.2-1". The level is the lowest of
ACCP's section 8 that cannot do without it; 0 where a specification has no levels. A test shows a requirement by
`@pytest.mark.requirement("3.7-1")`; with `cases=`, only its cases whose names begin so.
"""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FAMILIES", "REQUIREMENTS", "TESTS", "Requirement", "files_with_markers", "marked"]

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that a specification asks for."""

    id: str
    force: str
    """MUST, MUST NOT, SHOULD, SHOULD NOT, MAY, or "states" for a plain sentence that describes a rule."""
    level: int
    text: str
    divergence: str | None = None
    """Where we do something else, and why."""
    deferred: str | None = None
    """Why nothing shows it yet."""
    unseen: str | None = None
    """Why no peer can see whether it holds."""

    @property
    def is_of_a_wire(self) -> bool:
        """Whether a peer could tell: AACP and ACI are about texts and contexts."""
        return not self.id.startswith(("aacp:", "aci:")) and self.force not in ("MAY", "states")


FAMILIES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "requirements.json").read_text(encoding="utf-8"))
REQUIREMENTS: Mapping[str, list[Requirement]] = {
    family["name"]: [Requirement(**each) for each in family["requirements"]] for family in FAMILIES
}


def files_with_markers() -> list[Path]:
    """Return the files whose tests show something."""
    return sorted(path for path in TESTS.rglob("test_*.py") if "mark.requirement(" in path.read_text(encoding="utf-8"))


def marked() -> Iterator[tuple[str, Path]]:
    """Yield each id that a marker names, and the file."""
    for path in files_with_markers():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
                yield from ((ast.literal_eval(each), path) for each in node.args)
