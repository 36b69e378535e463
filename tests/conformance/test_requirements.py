"""The requirements and the tests that show them, checked both ways."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance import __main__ as table
from tests.conformance.evidence import Evidence, cases, evidence_files, marked_files, named
from tests.conformance.requirements import REQUIREMENTS, Force, Requirement
from tests.conformance.shown_by import SHOWN_BY

SECTIONS = {
    *("3.1.1", "3.3", "3.4", "3.5", "3.7", "4.3", "5.2", "5.4", "6.4", "7.1", "8.1", "8.2", "8.3"),
    *("9", "10.2", "10.3", "10.4"),
}
"""The sections of the draft that require something."""

ids = [requirement.id for requirement in REQUIREMENTS]


@pytest.fixture(scope="module")
def evidence(request: pytest.FixtureRequest) -> Evidence:
    evidence = Evidence()
    evidence.pytest_collection_finish(request.session)
    return evidence if is_complete(request.session) else collected_anew()


def is_complete(session: pytest.Session) -> bool:
    """Return whether this run of pytest has collected every test that could show a requirement."""
    narrowing = [session.config.getoption(name) for name in ("keyword", "markexpr", "lf", "deselect")]
    chosen = any("::" in argument for argument in session.config.args)
    return not any(narrowing) and not chosen and evidence_files() <= {item.path for item in session.items}


def collected_anew() -> Evidence:
    command = [sys.executable, "-m", "tests.conformance", "--collect"]
    root = Path(__file__).parents[2]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return Evidence(marks=json.loads(answer.stdout))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ids)
def test_a_requirement_is_shown_by_a_test(requirement: Requirement, evidence: Evidence) -> None:
    assert cases(requirement, evidence)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ids)
def test_a_test_that_the_data_names_exists(requirement: Requirement, evidence: Evidence) -> None:
    assert [test for test in requirement.tests if not named(test, evidence)] == []


def test_tests_are_named_for_requirements_only() -> None:
    assert set(SHOWN_BY) <= set(ids)


def test_a_mark_names_a_requirement(evidence: Evidence) -> None:
    assert {name for names in evidence.marks.values() for name in names} <= set(ids)


def test_a_test_of_a_level_shows_a_requirement(evidence: Evidence) -> None:
    files = {f"conformance/{path.name}" for path in marked_files()}
    assert files
    assert [node for node, names in evidence.marks.items() if node.partition("::")[0] in files and not names] == []


def test_a_test_of_a_level_shows_requirements_of_that_level(evidence: Evidence) -> None:
    levels = {requirement.id: requirement.level for requirement in REQUIREMENTS}
    for node, names in evidence.marks.items():
        assert not names or f"test_level_{max(levels[name] for name in names)}.py" in node


def test_no_two_requirements_have_one_id() -> None:
    assert [name for name, count in Counter(ids).items() if count > 1] == []


def test_every_section_that_requires_something_has_requirements_and_no_other() -> None:
    assert {requirement.section for requirement in REQUIREMENTS} == SECTIONS


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_the_requirements_of_a_section_are_numbered_through(section: str) -> None:
    numbers = [int(name.rpartition("-")[2]) for name in ids if name.rpartition("-")[0] == section]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_requirement_has_a_level_a_force_and_words() -> None:
    for requirement in REQUIREMENTS:
        assert requirement.level in {1, 2, 3}
        assert requirement.force in set(Force)
        assert requirement.text


def test_the_table_says_what_holds_diverges_fails_or_is_not_shown() -> None:
    one = Requirement(id="3.1.1-1", force=Force.MUST, level=1, text="one", tests=("core/test_x.py::test_y",))
    other = Requirement(id="3.1.1-2", force=Force.MUST, level=1, text="two", tests=one.tests, divergence="three")
    evidence = Evidence(marks={"core/test_x.py::test_y[1]": ()})
    assert table.verdict(one, Evidence()) == "not shown"
    assert (table.verdict(one, evidence), table.verdict(other, evidence)) == ("holds", "diverges")
    evidence.failed.add("core/test_x.py::test_y[1]")
    assert table.verdict(one, evidence) == "fails"
    assert table.words(other) == "two\n  but: three"
    assert table.summary(1, Evidence()).startswith("Level 1 does NOT hold")
