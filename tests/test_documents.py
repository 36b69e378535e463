"""Each command, code block, link and anchor of the README and of docs/ works, and the map names files that exist."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any, Final

import pytest

from accp_adapters.messages import project_messages
from accp_adapters.tokens import o200k_base
from accp_core.accp.debug import LOGGER

ROOT: Final = Path(__file__).parent.parent
DOCUMENTS: Final = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), ROOT / "llms.txt"]
CONTRIBUTING: Final = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ARCHITECTURE: Final = ROOT / "docs" / "architecture.md"
PATH: Final = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
MAX_README_LINES: Final = 150
MAX_PAGE_LINES: Final = 210
ABOUT_THE_TESTS: Final = frozenset({"architecture", "drafts", "frames"})
"""Pages for those who work on the project, or on another implementation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a document."""

    document: Path
    language: str
    text: str

    @property
    def name(self) -> str:
        """How pytest names the case."""
        return f"{self.document.name}: {self.text.splitlines()[0][:40]}"


def blocks_of(document: Path) -> list[Block]:
    found = re.findall(r"^```(\w+)\n(.*?)^```$", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [Block(document=document, language=language, text=text) for language, text in found]


BLOCKS: Final = [block for document in DOCUMENTS for block in blocks_of(document)]
COMMANDS: Final = [
    Block(document=block.document, language="sh", text=line)
    for block in BLOCKS
    if block.language == "sh"
    for line in block.text.splitlines()
]


def of_language(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def starting_with(*prefixes: str) -> list[Block]:
    return [command for command in COMMANDS if command.text.startswith(prefixes)]


def by_name(block: Block) -> str:
    return block.name


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MAX_README_LINES


def test_the_readme_shows_what_its_program_prints_and_what_the_model_reads(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = blocks_of(ROOT / "README.md")
    picture, program, printed = (block.text for block in blocks if block.language in ("python", "text"))
    names: dict[str, Any] = {}
    exec(compile(program, "README.md", "exec"), names)
    assert capsys.readouterr().out == printed
    messages, tokens = names["state"]["messages"], o200k_base()
    result, read = messages[2].text, project_messages(messages[:3]).messages[2].text
    shown = [*result.splitlines(), *read.splitlines()]
    quoted = [line.removesuffix(" …") for line in picture.splitlines() if line and " tokens" not in line]
    assert [line for line in quoted if not any(each.startswith(line) for each in shown)] == []
    assert re.findall(r"([\d,]+) tokens", picture) == [f"{tokens(text):,}" for text in (result, read)]


def test_readers_are_sent_to_the_tracker_that_the_package_names() -> None:
    urls = dict(url.split(", ") for url in metadata("accp-middleware").get_all("Project-URL") or ())
    assert urls["Issues"] in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_has_a_language_that_is_tested_here(document: Path) -> None:
    blocks = blocks_of(document)
    assert document.read_text(encoding="utf-8").count("```") == 2 * len(blocks)
    assert {block.language for block in blocks} <= {"python", "sh", "json", "text"}


def copy_checkout(folder: Path) -> None:
    """Put what documents name of a checkout into a folder that they may write to."""
    shutil.copytree(ROOT / "examples", folder / "examples")


@pytest.fixture
def _log_of_its_own() -> Iterator[None]:
    """Undo what a block does to the log."""
    level, handlers = LOGGER.level, list(LOGGER.handlers)
    yield
    LOGGER.setLevel(level)
    LOGGER.handlers[:] = handlers


@pytest.mark.usefixtures("_log_of_its_own")
@pytest.mark.parametrize("block", of_language("python"), ids=by_name)
def test_each_code_block_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "from mcp import Client" in block.text and version("mcp") < "2":
        pytest.skip("the page is about mcp 2.x")
    copy_checkout(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", PATH)
    exec(compile(block.text, block.document.name, "exec"), {})


def test_each_code_block_of_a_page_shows_something() -> None:
    silent = [block.name for block in of_language("python") if not re.search(r"print\(|^ *assert ", block.text, re.M)]
    assert [name for name in silent if not name.startswith("README")] == []


@pytest.mark.parametrize("block", of_language("json"), ids=by_name)
def test_each_configuration_is_one_that_the_integration_starts(block: Block) -> None:
    assert block.text in (ROOT / "integrations" / "tools_over_mcp" / "README.md").read_text(encoding="utf-8")


def test_each_make_target_exists() -> None:
    targets = {command.text.split()[1] for command in starting_with("make ")}
    targets |= set(re.findall(r"`make ([a-z0-9-]+)`", CONTRIBUTING))
    subprocess.run(["make", "--dry-run", *targets], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize("command", starting_with("pip install"), ids=by_name)
def test_each_extra_that_is_installed_exists(command: Block) -> None:
    extras = re.search(r"'(?:accp-middleware|\.)\[(.*)\]'", command.text)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(metadata("accp-middleware").get_all("Provides-Extra") or ())


def test_no_page_installs_a_name_that_is_not_on_the_index_yet() -> None:
    pages = [*DOCUMENTS, *ROOT.glob("integrations/*/README.md")]
    told = re.compile(r"(?:install|uvx|pipx run) .*accp-middleware(?!.* @ )")
    assert [page.name for page in pages if told.search(page.read_text(encoding="utf-8").replace("uninstall", ""))] == []


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_of_a_document_run_one_after_the_other(document: Path, tmp_path: Path) -> None:
    copy_checkout(tmp_path)
    for command in COMMANDS:
        if (
            command.document == document
            and ("accp " in command.text or command.text.startswith("python -c"))
            and not command.text.startswith("pip ")
        ):
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command.text],
                cwd=tmp_path,
                env={**os.environ, "PATH": PATH},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, (command, done.stderr)


def test_every_command_is_one_that_is_tried_here() -> None:
    known = ("make ", "pip install", "accp ", ".venv/bin/", "git ", "python -m tests.", "python -c ")
    assert [
        command.text for command in COMMANDS if not command.text.startswith(known) and "| accp " not in command.text
    ] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)(?:#([^)]+))?\)", text):
        linked = document.parent / target if target else document
        assert linked.exists(), target
        if anchor:
            assert f'id="{anchor}"' in linked.read_text(encoding="utf-8"), anchor


@pytest.mark.parametrize("folder", ["examples", "integrations"])
def test_the_index_names_every_example_and_integration(folder: str) -> None:
    index = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    there = {path.name for path in (ROOT / folder).iterdir() if path.suffix == ".py" or (path / "README.md").exists()}
    assert there == set(re.findall(rf"\]\(\.\./{folder}/([\w.]+)\)", index))


def test_coding_agents_are_told_of_every_page() -> None:
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert [page.name for page in ROOT.glob("docs/*.md") if f"(docs/{page.name})" not in text] == []


@pytest.mark.parametrize("page", sorted({path.stem for path in ROOT.glob("docs/*.md")} - ABOUT_THE_TESTS))
def test_pages_for_users_name_no_test(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert re.findall(r"`tests/[^`]*`|\btest_\w+", text) == []
    assert len(text.splitlines()) <= MAX_PAGE_LINES


@pytest.mark.parametrize("path", sorted(set(re.findall(r"(?:tests|accp_core|accp_adapters)/[\w/.:]*\w", CONTRIBUTING))))
def test_each_path_that_contributors_are_told_of_exists(path: str) -> None:
    file, _, test = path.partition("::")
    assert (ROOT / file).exists()
    assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")


def test_the_map_names_files_that_exist() -> None:
    named = re.findall(r"`((?:accp_core|accp_adapters)/[\w/.]*)`", ARCHITECTURE.read_text(encoding="utf-8"))
    assert len(named) > 40
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_map_names_every_package() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    packages = [
        each.parent.name for root in ("accp_core", "accp_adapters") for each in (ROOT / root).glob("*/__init__.py")
    ]
    assert [package for package in packages if not re.search(rf"\b{package}\b", text)] == []
