"""`python -m tests.conformance`: for each level of section 8, what holds; `--collect` prints the tests as JSON."""

import json
import sys

from rich.console import Console
from rich.table import Table

from tests.conformance.evidence import Evidence, cases, gather
from tests.conformance.requirements import REQUIREMENTS, Requirement

__all__ = ["main"]

TITLES = {1: "Level 1, minimum (8.1)", 2: "Level 2, standard (8.2)", 3: "Level 3, full (8.3)"}


def verdict(requirement: Requirement, evidence: Evidence) -> str:
    """Return whether the requirement holds."""
    nodes = cases(requirement, evidence)
    if not nodes:
        return "not shown"
    if evidence.failed.intersection(nodes):
        return "fails"
    return "diverges" if requirement.divergence else "holds"


def level_table(level: int, evidence: Evidence) -> Table:
    """Return the table of one level: what it adds to the one before."""
    table = Table(title=TITLES[level], title_justify="left", show_edge=False, pad_edge=False)
    for name in ("requirement", "force", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("tests", justify="right")
    table.add_column("text, and where we diverge")
    for requirement in (requirement for requirement in REQUIREMENTS if requirement.level == level):
        count = str(len(cases(requirement, evidence)))
        table.add_row(requirement.id, requirement.force, verdict(requirement, evidence), count, words(requirement))
    return table


def words(requirement: Requirement) -> str:
    """Return what the requirement says and what we do otherwise."""
    return f"{requirement.text}\n  but: {requirement.divergence}" if requirement.divergence else requirement.text


def summary(level: int, evidence: Evidence) -> str:
    """Return how many requirements hold of all that the level asks for, those below included."""
    verdicts = [verdict(requirement, evidence) for requirement in REQUIREMENTS if requirement.level <= level]
    counts = {word: verdicts.count(word) for word in ("holds", "diverges", "fails", "not shown")}
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    state = "holds" if not counts["fails"] + counts["not shown"] else "does NOT hold"
    return f"Level {level} {state}: {len(verdicts)} requirements, {said}"


def main(arguments: list[str], console: Console) -> int:
    """Print the tables; return 1 when a requirement does not hold."""
    if arguments == ["--collect"]:
        print(json.dumps(gather(run=False).marks))
        return 0
    evidence = gather(run=True)
    for level in TITLES:
        console.print(level_table(level, evidence), "")
    for level in TITLES:
        console.print(summary(level, evidence), soft_wrap=True)
    return 1 if "NOT" in summary(3, evidence) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Console() if sys.stdout.isatty() else Console(width=140)))
