import os
import subprocess
from pathlib import Path

import pytest

from accp_adapters.cli.demo.database import build_database, query_rows
from accp_adapters.cli.demo.git_history import read_history
from accp_adapters.cli.demo.snapshot import FolderSnapshot, read_folder
from accp_adapters.cli.demo.tools import folder_tools


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "src/app.py": "# a comment\nclass Clerk:\n    async def book(self) -> None: ...\n",
        "README.md": "# Flights\n\ntext\n\n## Usage\n",
        ".secret": "hidden",
        ".git-like/config": "hidden",
        "node_modules/x.js": "function installed() {}",
        "nul.txt": "a\0b",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (tmp_path / "image.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "large.txt").write_bytes(b"x" * 500_000)
    os.utime(tmp_path / "README.md", (1_700_000_500, 1_700_000_500))
    return tmp_path


@pytest.fixture
def snapshot(folder: Path) -> FolderSnapshot:
    return read_folder(folder)


def test_hidden_installed_binary_and_large_files_are_passed_over(snapshot: FolderSnapshot) -> None:
    assert [file.path for file in snapshot.files] == ["README.md", "src/app.py"]


def test_definitions_are_found_with_their_lines(snapshot: FolderSnapshot) -> None:
    app, readme = snapshot.find("src/app.py"), snapshot.find("README.md")
    assert app and readme
    assert [(one.kind, one.name, one.line) for one in app.definitions()] == [
        ("class", "Clerk", 2),
        ("def", "book", 3),
    ]
    assert [(one.kind, one.name) for one in readme.definitions()] == [("#", "Flights"), ("##", "Usage")]


def test_the_database_holds_files_and_definitions(snapshot: FolderSnapshot) -> None:
    database = build_database(snapshot)
    assert query_rows(database, "SELECT path, folder, suffix, lines FROM files ORDER BY path") == [
        {"path": "README.md", "folder": ".", "suffix": "md", "lines": 5},
        {"path": "src/app.py", "folder": "src", "suffix": "py", "lines": 3},
    ]
    assert query_rows(database, "SELECT COUNT(*) AS n FROM definitions") == [{"n": 4}]


@pytest.mark.parametrize("variable", ["GIT_CEILING_DIRECTORIES", "PATH"])
def test_outside_git_and_without_git_installed_there_is_no_history(
    variable: str, snapshot: FolderSnapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(snapshot.root.parent))
    assert read_history(snapshot.root, 10) == []


def test_in_a_repository_the_history_is_that_of_its_commits(folder: Path) -> None:
    def git(*arguments: str) -> None:
        options = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(folder), *options, *arguments], check=True, capture_output=True)

    git("init")
    git("add", "README.md", "src")
    git("commit", "-m", "Begin")
    (only,) = read_history(folder, 10)
    assert (only["author"], only["subject"], only["files"]) == ("Ann", "Begin", ["README.md", "src/app.py"])


def test_tools_answer_from_the_snapshot(snapshot: FolderSnapshot) -> None:
    tools = {tool.name: tool for tool in folder_tools(snapshot)}
    assert [row["path"] for row in tools["list_files"].invoke({})] == ["src/app.py", "README.md"]
    assert tools["search_text"].invoke({"words": "CLERK"}) == [
        {"path": "src/app.py", "line": 2, "text": "class Clerk:"}
    ]
    assert tools["read_file"].invoke({"path": "README.md"}).startswith("# Flights")
    assert tools["git_history"].invoke({}) == read_history(snapshot.root, 40)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("read_file", {"path": "../../etc/passwd"}, "expected the path of a listed file"),
        ("query_database", {"sql": "DELETE FROM files"}, "readonly"),
        ("query_database", {"sql": "SELECT nothing"}, "CREATE TABLE files"),
    ],
)
def test_a_tool_refuses_in_words_that_a_model_can_use(
    snapshot: FolderSnapshot, tool: str, arguments: dict[str, str], reason: str
) -> None:
    tools = {each.name: each for each in folder_tools(snapshot)}
    assert reason in tools[tool].invoke(arguments)
