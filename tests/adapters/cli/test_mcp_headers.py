"""Header fields from the command line, the environment and a file; no message shows a value."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from accp_adapters.cli.commands.mcp.headers import header_fields


def test_the_three_sources_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "Bearer abc:=")
    file = tmp_path / "headers"
    file.write_text("X-Team: red\n\nX-Empty:\n", encoding="utf-8")
    assert header_fields(["X-A: 1"], ["Authorization=TOKEN"], file) == [
        (b"x-a", b"1"),
        (b"authorization", b"Bearer abc:="),
        (b"x-team", b"red"),
        (b"x-empty", b""),
    ]


@pytest.mark.parametrize(
    ("lines", "variables", "said"),
    [
        (["secret"], [], "found a line without a name"),
        (["a\nb: secret"], [], "found a line without a name"),
        (["name: secret\r\nb: c"], [], "found 'name'"),
        ([], ["Authorization"], "'Authorization'"),
        ([], ["Authorization=NO_SUCH_VARIABLE"], "'Authorization=NO_SUCH_VARIABLE'"),
    ],
)
def test_a_malformed_field_is_refused_without_its_value(lines: list[str], variables: list[str], said: str) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        header_fields(lines, variables, None)
    assert said in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="no-such-file"):
        header_fields([], [], tmp_path / "no-such-file")
