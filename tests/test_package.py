"""What is shipped: the two packages, their types, the vocabulary and both licences, and nothing else."""

import ast
import email
import functools
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import accp_adapters

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
EXTRAS = PROJECT["project"]["optional-dependencies"]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHIPPED = [
    "accp_adapters/replay/page.html.jinja",
    "accp_adapters/replay/recorded_run.json",
    "accp_core/__init__.py",
    "accp_core/py.typed",
    "accp_core/view/notation.py",
    "accp_adapters/__init__.py",
    "accp_adapters/py.typed",
    "accp_adapters/tokens/o200k_base.tokens",
    "accp_adapters/tokens/LICENSE.o200k_base",
]


def test_the_version_is_that_of_the_project() -> None:
    assert accp_adapters.__version__ == PROJECT["project"]["version"]


def test_the_wheel_is_made_of_two_packages() -> None:
    assert WHEEL["packages"] == ["accp_core", "accp_adapters"]


def test_what_is_compiled_where_that_is_asked_for_is_of_the_core() -> None:
    modules = WHEEL["hooks"]["custom"]["modules"]
    assert modules == sorted(set(modules))
    assert all((ROOT / f"{name.replace('.', '/')}.py").is_file() for name in modules)
    assert {name.partition(".")[0] for name in modules} == {"accp_core"}


@pytest.mark.parametrize("path", [*SHIPPED, *PROJECT["project"]["license-files"], PROJECT["project"]["readme"]])
def test_what_is_to_be_shipped_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


def test_the_name_is_not_that_of_the_unrelated_package() -> None:
    assert PROJECT["project"]["name"] == "accp-middleware"


def test_the_core_needs_no_framework() -> None:
    names = {requirement.split(">")[0] for requirement in PROJECT["project"]["dependencies"]}
    assert names == {"tiktoken"}


def test_what_only_development_needs_is_a_group_and_no_extra() -> None:
    assert {"test", "check", "all-tests"} <= set(PROJECT["dependency-groups"])
    frameworks = {"langgraph", "mcp", "a2a", "openai-agents", "pydantic-ai"}
    assert set(EXTRAS) == {*frameworks, "bindings", "redis", "cli", "tokenizers", "fast", "telemetry", "all"}


def test_the_extra_all_holds_every_other_extra() -> None:
    # quicktok has no wheels for the newest Python.
    assert extras_of(Requirement(EXTRAS["all"][0])) == set(EXTRAS) - {"all", "fast"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_extra_all_brings_what_an_example_imports(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = {"accp_core", "accp_adapters", *(example.stem for example in EXAMPLES)}
    foreign = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - own
    assert {name for name in foreign if not distributions_of(name) & brought_by_all()} == set()


OF_OTHERS = {
    "quicktok": "the extra `fast` brings it as quicktok-v1, which `make test` does not install",
    "mcp_types": "the second generation of the MCP SDK brings it",
    "ormsgpack": "LangGraph brings it; checkpoints that it wrote are read by it",
}
"""A module that the package imports without a requirement of its own, and why."""
LEAST = {"h11": "0.16", "starlette": "0.49.1", "protobuf": "6.33.5"}
"""The first version without a known advisory of what reads input of others."""


def imported_by(folder: str) -> set[str]:
    """Return the top-level modules of others that the modules of a package import, anywhere in them."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / folder).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    foreign = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
    return {name.partition(".")[0] for name in foreign} - {"accp_core", "accp_adapters"}


def test_every_module_that_is_imported_is_a_requirement_by_name() -> None:
    texts = [*PROJECT["project"]["dependencies"], *(text for extra in EXTRAS.values() for text in extra)]
    named = {canonicalize_name(Requirement(text).name) for text in texts}
    foreign = imported_by("accp_core") | imported_by("accp_adapters")
    assert {name for name in foreign - set(OF_OTHERS) if not distributions_of(name) & named} == set()


@pytest.mark.parametrize("name", LEAST)
def test_no_lower_bound_admits_a_version_with_an_advisory(name: str) -> None:
    needed = [Requirement(text) for extra in EXTRAS.values() for text in extra]
    bounds = [each.specifier for each in needed if canonicalize_name(each.name) == name]
    before = str(Version(f"{LEAST[name]}.dev0"))
    assert bounds
    assert [each for each in bounds if each.contains(before, prereleases=True)] == []


def extras_of(requirement: Requirement) -> set[str]:
    """Return the extras that a requirement asks for."""
    return {str(extra) for extra in requirement.extras}


def distributions_of(module: str) -> set[str]:
    """Return the canonical names of the distributions that install a top-level module."""
    return {canonicalize_name(name) for name in _distributions().get(module, ())}


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Read the metadata of all installed distributions, which takes seconds, once."""
    return packages_distributions()


@functools.cache
def brought_by_all() -> frozenset[str]:
    """Return the canonical names of the distributions that `pip install 'accp-middleware[all]'` installs."""
    waiting = [Requirement("accp-middleware[all]")]
    done: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if (key := f"{canonicalize_name(requirement.name)}{sorted(extras_of(requirement))}") in done:
            continue
        done.add(key)
        waiting += required_by(requirement)
    return frozenset(key.partition("[")[0] for key in done)


def required_by(requirement: Requirement) -> list[Requirement]:
    """Return what a distribution needs on this machine, ours by pyproject.toml and others by their metadata."""
    if requirement.name == "accp-middleware":
        texts = [*PROJECT["project"]["dependencies"], *(text for extra in requirement.extras for text in EXTRAS[extra])]
        return [Requirement(text) for text in texts]
    try:
        needed = [Requirement(text) for text in requires(requirement.name) or ()]
    except PackageNotFoundError:
        return []
    extras = ["", *requirement.extras]
    return [each for each in needed if not each.marker or any(each.marker.evaluate({"extra": e}) for e in extras)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built in a process of its own so that no warning of the builder is ours."""
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    target = tmp_path_factory.mktemp("wheel")
    program = f"import hatchling.build; print(hatchling.build.build_wheel({str(target)!r}))"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


def names_in(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_the_two_packages_only(wheel: Path) -> None:
    roots = {name.partition("/")[0] for name in names_in(wheel)}
    assert {root for root in roots if not root.endswith(".dist-info")} == {"accp_core", "accp_adapters"}
    assert len(roots) == 3


@pytest.mark.parametrize("path", SHIPPED)
def test_the_wheel_holds_types_vocabulary_and_licence(path: str, wheel: Path) -> None:
    assert path in names_in(wheel)


def test_the_wheel_holds_no_tests_and_nothing_compiled(wheel: Path) -> None:
    unwanted = ("tests/", "__pycache__", ".pyc", ".so")
    assert [name for name in names_in(wheel) if any(part in name for part in unwanted)] == []


def test_the_wheel_names_its_licences_and_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(texts["METADATA"]).decode()
        entry_points = archive.read(texts["entry_points.txt"]).decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert {"licenses/LICENSE", "licenses/accp_adapters/tokens/LICENSE.o200k_base"} <= set(texts)
    assert "accp = accp_adapters.cli:main" in entry_points


def test_the_wheel_names_its_authors_its_pages_and_no_extra_of_development(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Author"] == metadata["Maintainer"] == "The accp-middleware authors"
    pages = {str(page).partition(",")[0] for page in metadata.get_all("Project-URL", ())}
    assert pages == {"Homepage", "Documentation", "Issues", "Changelog"}
    assert set(metadata.get_all("Provides-Extra", ())) == set(EXTRAS)
