import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app

runner = CliRunner()
ORDERS = {"orders": [{"id": n, "status": "late" if n % 3 else "paid", "total": n * 1.5} for n in range(30)]}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps(ORDERS), encoding="utf-8")
    return str(path)


def test_a_select_is_answered_as_a_view(file: str) -> None:
    result = runner.invoke(app, ["query", file, "SELECT max(total), count(*) AS n FROM orders WHERE status = 'paid'"])
    assert (result.exit_code, result.stdout) == (0, "max(total) 40.5\nn 10\n")


def test_a_condition_is_paged(file: str) -> None:
    result = runner.invoke(app, ["query", file, "status = late", "--offset", "1", "--limit", "2"])
    assert result.stdout.splitlines()[-1] == "… rows 1-2 of 20; next: offset=3"


def test_without_a_query_the_whole_is_shown_within_the_tokens() -> None:
    result = runner.invoke(app, ["query", "-", "--tokens", "40"], input=json.dumps(ORDERS))
    assert "next: offset=" in result.stdout


def test_words_are_found_in_a_text() -> None:
    assert runner.invoke(app, ["query", "-", "disk"], input="well\nno disk\n").stdout == "1- well\n2: no disk\n"


def test_a_query_that_is_not_understood_is_refused_with_its_code(file: str) -> None:
    result = runner.invoke(app, ["query", file, "SELECT nosuch FROM orders"])
    assert result.exit_code == 1
    expected = f"{file}: E1004: expected a column of orders(id, status, total); found 'nosuch'. query: "
    assert result.stderr.startswith(expected)


def test_files_and_tokenizers_that_are_not_there_are_usage_errors(file: str) -> None:
    assert runner.invoke(app, ["query", "/no/such/file", "x"]).exit_code == 2
    assert runner.invoke(app, ["query", file, "x", "--tokenizer", "/no/such/tokenizer.json"]).exit_code == 2
