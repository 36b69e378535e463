"""Each command, code block and link of the README works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
COMMANDS = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]


def test_every_block_has_a_language_that_is_tested_here() -> None:
    assert README.count("```") == 2 * len(BLOCKS)
    assert {language for language, _ in BLOCKS} == {"python", "sh", "json"}


@pytest.mark.parametrize("code", PYTHON)
def test_each_code_block_runs(code: str) -> None:
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize("block", [code for language, code in BLOCKS if language == "json"])
def test_each_configuration_is_one_that_the_integration_starts(block: str) -> None:
    assert block in (ROOT / "integrations" / "tools_over_mcp" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("make ")])
def test_each_make_target_exists(command: str) -> None:
    target = command.split()[1]
    planned = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True)
    assert planned.stdout


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("pip install")])
def test_each_extra_that_is_installed_exists(command: str) -> None:
    asked = re.search(r"'accp-middleware\[(.*)\]'", command)
    assert asked is not None
    assert set(asked[1].split(",")) <= set(metadata("accp-middleware").get_all("Provides-Extra") or ())


def test_the_commands_run_one_after_the_other(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = [line for line in COMMANDS if not line.startswith(("make ", "pip "))]
    assert all("accp " in line for line in commands)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (command, done.stderr)


DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_each_link_leads_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", document.read_text(encoding="utf-8"))
    assert [target for target in targets if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make ([a-z0-9-]+)`", CONTRIBUTING))))
def test_each_make_target_that_contributors_are_told_of_exists(target: str) -> None:
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"(?:tests|accp_core|accp_adapters)/[\w/.:]*\w", CONTRIBUTING))))
def test_each_path_that_contributors_are_told_of_exists(path: str) -> None:
    file, _, test = path.partition("::")
    assert (ROOT / file).exists()
    assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
