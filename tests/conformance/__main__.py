"""`python -m tests.conformance`: which requirements hold, a table for each family and level; `--collect` prints JSON.

The JSON is the tests that were collected.
"""

import json
import sys

from rich.console import Console
from rich.table import Table

from tests.conformance.evidence import Evidence, cases, gather
from tests.conformance.families import FAMILIES
from tests.conformance.requirement import Family, Requirement
from tests.conformance.suites import outcomes
from tests.foreign.matrix import matrix_of

__all__ = ["main"]


def verdict(requirement: Requirement, evidence: Evidence) -> str:
    """Return whether the requirement holds."""
    nodes = cases(requirement, evidence)
    if not nodes:
        return "deferred" if requirement.deferred else "not shown"
    if evidence.failed.intersection(nodes):
        return "fails"
    if evidence.left.issuperset(nodes):
        return "left"
    return "diverges" if requirement.divergence else "holds"


def level_table(family: Family, level: int, evidence: Evidence) -> Table:
    """Return the table of one level: what it adds to the one before."""
    title = f"{family.name}: {family.titles[level]}"
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for name in ("requirement", "force", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("tests", justify="right")
    table.add_column("text, and where we diverge")
    for requirement in (requirement for requirement in family.requirements if requirement.level == level):
        count = str(len(cases(requirement, evidence)))
        table.add_row(requirement.id, requirement.force, verdict(requirement, evidence), count, words(requirement))
    return table


def words(requirement: Requirement) -> str:
    """Return what the requirement says, and what we do otherwise or not yet."""
    but = requirement.divergence or requirement.deferred
    lines = [requirement.text, *([f"  but: {but}"] if but else [])]
    return "\n".join([*lines, f"  no peer sees it: {requirement.unseen}"] if requirement.unseen else lines)


def holds(family: Family, evidence: Evidence) -> bool:
    """Return whether every requirement is shown or deferred, and none fails."""
    return not {"fails", "not shown"}.intersection(verdict(each, evidence) for each in family.requirements)


def summary(family: Family, level: int, evidence: Evidence) -> str:
    """Return how many requirements hold of all that the level asks for, those below included."""
    verdicts = [verdict(requirement, evidence) for requirement in family.up_to(level)]
    counts = {word: verdicts.count(word) for word in ("holds", "diverges", "deferred", "left", "fails", "not shown")}
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    state = "holds" if not counts["fails"] + counts["not shown"] else "does NOT hold"
    name = f"{family.name} level {level}" if level else family.name
    return f"{name} {state}: {len(verdicts)} requirements, {said}"


def main(arguments: list[str], console: Console) -> int:
    """Print the tables; return 1 when a requirement does not hold."""
    if arguments == ["--collect"]:
        print(json.dumps(gather(run=False).nodes))
        return 0
    evidence = gather(run=True)
    levels = [(family, level) for family in FAMILIES for level in family.titles]
    for family, level in levels:
        console.print(level_table(family, level, evidence), "")
    for line in matrix_of(evidence.reports):
        console.print(line, markup=False, highlight=False)
    for family, level in levels:
        console.print(summary(family, level, evidence), soft_wrap=True)
    all_hold = all(holds(family, evidence) for family in FAMILIES)
    for line, is_well in outcomes():
        console.print(line, soft_wrap=True)
        all_hold = all_hold and is_well
    return 0 if all_hold else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Console() if sys.stdout.isatty() else Console(width=140)))
