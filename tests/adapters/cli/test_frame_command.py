import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app

runner = CliRunner()

FRAME = r"@planner>req:schedule{who:\@dev|n:1.5|src:$warm.x|_x64_:[a,{b:~}]}[mid:49679033e07c,seq:3,ts:9]"
DELTA = "@a>sync:state{v:7|delta:{gone:~,kept:1}}[mid:49679033e07c,seq:4,ts:1764000000]"


def run(*arguments: str, text: str) -> tuple[int, str, str]:
    result = runner.invoke(app, ["frame", *arguments], input=text)
    return result.exit_code, result.stdout, result.stderr


def test_parse_prints_one_line_of_json_for_each_frame() -> None:
    code, out, _ = run("parse", text=f"{FRAME}\n\n{DELTA}\n")
    first, second = map(json.loads, out.splitlines())
    assert code == 0
    assert first["params"] == {
        "who": "@dev",
        "n": 1.5,
        "src": {"$ref": "warm.x"},
        "_x64_": ["a", {"b": None}],
    }
    assert first["envelope"] == {"msg_id": "49679033e07c", "sequence": 3, "timestamp": 9}
    assert second["params"]["delta"] == {"gone": {"$removed": True}, "kept": 1}


@pytest.mark.parametrize("frame", [FRAME, DELTA])
def test_format_leaves_a_canonical_frame_alone(frame: str) -> None:
    assert run("format", text=frame) == (0, f"{frame}\n", "")


@pytest.mark.parametrize("frame", [FRAME, DELTA, "@a>req:x{_x5f_x64_:1|_x64_:2|d:3}"])
def test_format_reads_what_parse_prints(frame: str) -> None:
    _, parsed, _ = run("parse", text=frame)
    assert run("format", text=parsed) == (0, f"{frame}\n", "")


def test_format_sorts_the_keys_of_maps() -> None:
    assert run("format", text="@a>req:x{k:{z:1,b:2}}")[1] == "@a>req:x{k:{b:2,z:1}}\n"


def test_format_can_keep_to_ascii() -> None:
    assert run("format", "--ascii", text="@a>req:x{k:naïve}")[1] == '@a>req:x{k:"na%C3%AFve"}\n'


@pytest.mark.parametrize(
    ("text", "stderr"),
    [
        ("{", "-:1:2: E1001: "),
        ('{"sender": "a"}', "-:1:1: E1001: expected the JSON of a frame: 'intent'"),
        ('{"sender": "a b", "intent": "req", "operation": "x"}', "-:1:1: E1001: "),
        ("@a>req:x{k}", "-:1:11: E1001: "),
    ],
)
def test_format_refuses_what_is_no_frame(text: str, stderr: str) -> None:
    code, _, err = run("format", text=text)
    assert code == 1
    assert err.startswith(stderr)


def test_parse_names_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "frames.txt"
    path.write_text(f"{FRAME}\n@a>REQ:op{{}}\n", encoding="utf-8")
    result = runner.invoke(app, ["frame", "parse", str(path)])
    assert result.exit_code == 1
    assert result.stderr == f"{path}:2:4: E1002: expected a known intent\n"


def test_strict_refuses_the_errata_of_the_draft() -> None:
    text = "@a>req:x{who:@dev}"
    assert run("parse", text=text)[0] == 0
    assert run("parse", "--strict", text=text)[0] == 1


def test_check_is_silent_about_a_sound_frame() -> None:
    assert run("check", text=f"{FRAME}\n{DELTA}\n") == (0, "", "")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("@a>req:x{}[mid:abc,seq:1]", "1:16: warning: mid 'abc' is not 12 hex digits (Table 4)"),
        ("@a>req:x{}[seq:1]", "without mid"),
        ("@a>req:x{}[mid:49679033e07c]", "without seq"),
        ("@a>req:x{who:@dev}[mid:49679033e07c,seq:1]", "1:14: warning: allowed only by a known erratum"),
        ("@a>req:x{k:{z:1,b:2}}[mid:49679033e07c,seq:1]", "1:13: warning: not the canonical spelling"),
        ("@a>req:x{k:中文}[mid:49679033e07c,seq:1]", "1:12: warning: '中' is not a character of the draft"),
        ("@a>req:x{}[mid:49679033e07c,seq:1,zz:1]", "1:35: warning: field 'zz' is not in Table 4"),
    ],
)
def test_check_warns_about_what_is_doubtful(text: str, warning: str) -> None:
    code, _, err = run("check", text=text)
    assert code == 0
    assert warning in err


def test_check_reports_every_refused_line() -> None:
    code, _, err = run("check", text=f"nonsense\n{FRAME}\n@a>REQ:op{{}}\n")
    assert code == 1
    assert [line.split(":")[1] for line in err.splitlines()] == ["1", "3"]
