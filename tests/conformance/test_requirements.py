"""The requirements and the tests that show them, checked both ways."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance import __main__ as table
from tests.conformance.evidence import Evidence, cases, evidence_files, named
from tests.conformance.families import FAMILIES, every_requirement
from tests.conformance.requirement import Family, Force, Requirement
from tests.conformance.seen_by_peers import SEEN_BY_PEERS, UNSEEN

REQUIREMENTS = tuple(every_requirement())
ids = [requirement.id for requirement in REQUIREMENTS]
# Another interpreter collects what a choice of tests leaves out.
pytestmark = pytest.mark.slow
by_name = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.fixture(scope="module")
def evidence(request: pytest.FixtureRequest) -> Evidence:
    evidence = Evidence()
    evidence.pytest_collection_finish(request.session)
    return evidence if is_complete(request.session) else collected_anew()


def is_complete(session: pytest.Session) -> bool:
    """Return whether this run of pytest has collected every test that could show a requirement."""
    narrowing = [session.config.getoption(name, None) for name in ("keyword", "markexpr", "lf", "deselect")]
    chosen = any("::" in argument for argument in session.config.args)
    return not any(narrowing) and not chosen and evidence_files() <= {item.path for item in session.items}


def collected_anew() -> Evidence:
    command = [sys.executable, "-m", "tests.conformance", "--collect"]
    root = Path(__file__).parents[2]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return Evidence(nodes=json.loads(answer.stdout))


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ids)
def test_a_requirement_is_shown_by_a_test_or_deferred(requirement: Requirement, evidence: Evidence) -> None:
    assert bool(cases(requirement, evidence)) is (requirement.deferred is None)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ids)
def test_a_test_that_the_data_names_exists(requirement: Requirement, evidence: Evidence) -> None:
    assert [test for test in requirement.tests if not named(test, evidence)] == []


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ids)
def test_what_a_wire_must_do_is_shown_by_a_peer_or_unseen(requirement: Requirement) -> None:
    is_of_a_wire = not requirement.id.startswith(("aacp:", "aci:"))
    if is_of_a_wire and requirement.force not in (Force.MAY, Force.STATES):
        is_seen = any(test.startswith("foreign/") for test in requirement.tests)
        assert is_seen is (requirement.unseen is None)


def test_a_peer_sees_requirements_only() -> None:
    assert set(SEEN_BY_PEERS) | set(UNSEEN) <= set(ids)


@by_name
def test_tests_are_named_for_requirements_only(family: Family) -> None:
    assert set(family.shown_by) <= {requirement.id for requirement in family.requirements}


def test_no_two_requirements_have_one_id() -> None:
    assert [name for name, count in Counter(ids).items() if count > 1] == []


@by_name
def test_every_section_that_requires_something_has_requirements_and_no_other(family: Family) -> None:
    assert {requirement.section for requirement in family.requirements} == family.sections


@by_name
def test_the_requirements_of_a_section_are_numbered_through(family: Family) -> None:
    own = [requirement.id for requirement in family.requirements]
    for section in family.sections:
        numbers = [
            int(name.rpartition("-")[2]) for name in own if name.rpartition("-")[0].rpartition(":")[2] == section
        ]
        assert numbers == list(range(1, len(numbers) + 1)), section


@by_name
def test_a_requirement_has_a_level_a_force_and_words(family: Family) -> None:
    for requirement in family.requirements:
        assert requirement.level in family.titles
        assert requirement.force in set(Force)
        assert requirement.text


def test_the_table_says_what_holds_diverges_fails_or_is_not_shown() -> None:
    one = Requirement(id="3.1.1-1", force=Force.MUST, level=1, text="one", tests=("core/test_x.py::test_y",))
    other = Requirement(id="3.1.1-2", force=Force.MUST, level=1, text="two", tests=one.tests, divergence="three")
    evidence = Evidence(nodes=["core/test_x.py::test_y[1]"])
    assert table.verdict(one, Evidence()) == "not shown"
    assert (table.verdict(one, evidence), table.verdict(other, evidence)) == ("holds", "diverges")
    evidence.failed.add("core/test_x.py::test_y[1]")
    assert table.verdict(one, evidence) == "fails"
    assert table.words(other) == "two\n  but: three"
    evidence.left.add("core/test_x.py::test_y[1]")
    assert table.verdict(one, Evidence(nodes=evidence.nodes, left=evidence.left)) == "left"
    family = Family(name="X", titles={1: "one"}, sections=frozenset(), requirements=(one, other), shown_by={})
    assert table.summary(family, 1, Evidence()) == (
        "X level 1 does NOT hold: 2 requirements, 0 holds, 0 diverges, 0 deferred, 0 left, 0 fails, 2 not shown"
    )
    later = Requirement(id="3.1.1-3", force=Force.MUST, level=1, text="three", deferred="four", unseen="five")
    assert table.verdict(later, evidence) == "deferred"
    assert table.words(later) == "three\n  but: four\n  no peer sees it: five"
    assert not table.holds(family, evidence)
    evidence.failed.clear()
    assert table.holds(family, evidence)
