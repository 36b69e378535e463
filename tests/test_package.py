"""What is shipped: the two packages, their types, the vocabulary and both licences, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SHIPPED = [
    "accp_core/__init__.py",
    "accp_core/py.typed",
    "accp_core/view/notation.py",
    "accp_adapters/__init__.py",
    "accp_adapters/py.typed",
    "accp_adapters/tokens/o200k_base.tiktoken.xz",
    "accp_adapters/tokens/LICENSE.o200k_base",
]


def test_the_wheel_is_made_of_two_packages() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["accp_core", "accp_adapters"]}


@pytest.mark.parametrize("path", [*SHIPPED, *PROJECT["project"]["license-files"], PROJECT["project"]["readme"]])
def test_what_is_to_be_shipped_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


def test_the_name_is_not_that_of_the_unrelated_package() -> None:
    assert PROJECT["project"]["name"] == "accp-middleware"


def test_the_core_needs_no_framework() -> None:
    names = {requirement.split(">")[0] for requirement in PROJECT["project"]["dependencies"]}
    assert names == {"tiktoken"}


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
