import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.adapters.replay.runs import FLIGHTS

runner = CliRunner()


def test_a_view_goes_to_stdout_and_the_counts_to_stderr() -> None:
    result = runner.invoke(app, ["view"], input=json.dumps(FLIGHTS, indent=2))
    assert result.exit_code == 0
    assert "HAT069" in result.stdout
    assert " tokens -> " in result.stderr


def test_read_is_the_inverse() -> None:
    shown = runner.invoke(app, ["view", "-"], input=json.dumps(FLIGHTS) + "\r\n").stdout_bytes
    read = runner.invoke(app, ["view", "--read", "-"], input=shown)
    assert json.loads(read.stdout) == FLIGHTS


@pytest.mark.parametrize("text", ["Zoë went\r\nhome.\n", "name: Bob\nage: 3\n", "Error: no file: x\nLine 3: foo\n"])
def test_prose_comes_out_as_it_is_and_is_not_read_as_a_view(text: str, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_bytes(text.encode())
    shown = runner.invoke(app, ["view", str(tmp_path / "prose.txt")])
    assert (shown.stdout_bytes, "no view" in shown.stderr) == (text.encode(), True)
    read = runner.invoke(app, ["view", "--read"], input=shown.stdout_bytes)
    assert (read.exit_code, read.stdout, "E1001: " in read.stderr) == (1, "", True)


def test_restore_writes_the_source() -> None:
    source = json.dumps(FLIGHTS, indent=4)
    assert runner.invoke(app, ["view", "--restore"], input=source).stdout == source


def test_a_view_that_does_not_restore_its_text_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_core.view.text.View.restore", lambda self: "another text")
    result = runner.invoke(app, ["view", "--restore"], input=json.dumps(FLIGHTS))
    assert (result.exit_code, result.stderr) == (1, "-: E9999: expected the view to restore this text\n")


def test_bytes_that_are_no_text_are_refused_with_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    for encoding, place in (("LATIN1", "2:2"), ("UTF-16", "1:1")):
        path.write_bytes("a\nbü".encode(encoding))
        result = runner.invoke(app, ["view", str(path)])
        assert (result.exit_code, result.stderr.split(" ")[0]) == (1, f"{path}:{place}:")
        assert result.stderr.endswith(f"; convert it, such as by iconv -f {encoding} -t UTF-8\n")


@pytest.mark.parametrize("content", [b"[1, 2]", b"[1, 2]\n", b"\xef\xbb\xbf[1, 2]\r\n", b"", b"\n\n", b"words \n"])
def test_a_restored_text_is_the_text_byte_for_byte(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(content)
    result = runner.invoke(app, ["view", "--restore", str(path)])
    assert (result.exit_code, result.stdout_bytes) == (0, content)


def test_a_vocabulary_that_cannot_be_fetched_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(name: str) -> None:
        raise ConnectionError("no network here")

    monkeypatch.setattr("tiktoken.get_encoding", offline)
    result = runner.invoke(app, ["view", "--tokenizer", "cl100k_base"], input="[1]")
    assert result.exit_code == 2
    assert "TIKTOKEN_CACHE_DIR" in result.stderr
