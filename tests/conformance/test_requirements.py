"""The requirements and the markers on the tests that show them, checked both ways."""

from collections import defaultdict
from pathlib import Path

from tests.conformance.requirements import FAMILIES, REQUIREMENTS, TESTS, marked


def test_each_requirement_is_shown_by_a_test_and_each_marker_names_a_requirement() -> None:
    shown: dict[str, set[Path]] = defaultdict(set)
    for name, path in marked():
        shown[name].add(path)
    every = {each.id: each for requirements in REQUIREMENTS.values() for each in requirements}
    assert shown.keys() - every.keys() == set()
    assert {name for name, each in every.items() if (name in shown) is bool(each.deferred)} == set()
    seen = {name for name, paths in shown.items() if any(path.is_relative_to(TESTS / "foreign") for path in paths)}
    of_a_wire = {name for name, each in every.items() if each.is_of_a_wire}
    assert {name for name in of_a_wire if (name in seen) is bool(every[name].unseen)} == set()


def test_the_requirements_of_a_section_are_numbered_through() -> None:
    for family in FAMILIES:
        numbers: dict[str, list[int]] = defaultdict(list)
        for each in REQUIREMENTS[family["name"]]:
            section, _, number = each.id.rpartition("-")
            numbers[section].append(int(number))
            assert str(each.level) in family["titles"]
            assert each.text
        assert {section for section, found in numbers.items() if found != list(range(1, len(found) + 1))} == set()
