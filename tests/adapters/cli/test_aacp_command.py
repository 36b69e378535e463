"""`accp aacp`: packets on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.scripted_model import ScriptedModel

PACKET = "FETCH|HR|return:A|p:1|aacp:1.1|res:x"
ENGLISH = ("--english", "Fetch absences of E-17", "--domain", "hr", "--return", "A")
OWN = """
name = "own"
[steps.fetch]
task = "FETCH"
domain = "HR"
return = "A"
phrases = ["fetch absences of {who}"]
[steps.fetch.fields]
filter = "emp={who}"
"""


def run(*arguments: str, text: str = "") -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["aacp", *arguments], input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_a_step_is_encoded() -> None:
    code, out, _ = run(
        "encode",
        "payroll.send_report",
        "period=2024-08",
        "to=cfo",
        "to=hr_director",
        "--return",
        "X",
        "--priority",
        "1",
    )
    assert code == 0
    assert out == (
        "SEND|HR|return:X|p:1|aacp:1.1|to:cfo,hr_director|subj:payroll_2024_08_REVIEW_REQ"
        "|att:rpt://payroll/2024-08:pdf|flag_msg:review_required\n"
    )


def test_a_whole_workflow_is_encoded_and_valid() -> None:
    code, out, _ = run("encode", "payroll", "period=2024-08")
    assert (code, len(out.splitlines())) == (0, 6)
    assert run("validate", text=out) == (0, "", "")


def test_steps_are_listed_with_their_arguments(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    _, out, _ = run("encode", "--workflows", str(path))
    assert {
        "payroll period prev_period flags fields",
        "payroll.fetch_employees period [fields] [status]",
        "own.fetch who",
    } <= set(out.splitlines())


def test_warnings_are_told_beside_the_packet() -> None:
    code, out, err = run("encode", "payroll.merge_and_calculate", "flags=over_budget")
    assert (code, out[:5]) == (0, "MERGE")
    assert err == "warning: unknown-key: flags_inherit: unknown key 'flags_inherit'\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("it.provision_vpn", "username=j@co.example"), "E1004: filter: holds an e-mail address; send the address"),
        (("payroll.fetch_budgets", "period=2024-13"), "E1004: period: expected a month such as 2024-08 or a quarter"),
        (("payroll.fetch_budgets", "period=August 2024"), "E1004: period: expected a month such as 2024-08"),
    ],
)
def test_a_value_of_another_type_and_personal_data_are_refused(words: tuple[str, ...], reason: str) -> None:
    code, out, err = run("encode", *words)
    assert (code, out) == (1, "")
    assert reason in err


def test_a_list_of_fields_is_left_out_where_the_receiver_has_its_own() -> None:
    _, out, _ = run("encode", "payroll", "period=2024-08", "prev_period=2024-07", "fields=")
    assert "fields:" not in out
    assert run("encode", "payroll.fetch_budgets", "period=2024-08")[1].count("fields:") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("payroll.nothing",), 2, "found 'payroll.nothing'"),
        (("invoice",), 2, "found 'invoice'"),
        (("payroll.fetch_budgets",), 2, "expected period [fields], found nothing"),
        (("payroll.fetch_budgets", "period=1", "when=2"), 2, "'when'"),
        (("payroll.fetch_budgets", "period"), 2, "expected NAME=VALUE, found"),
        (("payroll", "period=1", "--return", "X"), 2, "only for one step"),
        (("payroll.fetch_budgets", "period=1", "--domain", "HR"), 2, "only with --english"),
        (("--english", "Fetch it"), 2, "--return with --english, and no step"),
        (("payroll.fetch_budgets", *ENGLISH), 2, "and no step"),
        (("payroll.fetch_budgets", "period=a|b"), 1, "payroll.fetch_budgets:1:1: E1004: period: expected no '|'"),
        (ENGLISH, 1, "--english:1:1: E4001: expected a rule, an entry or a model for 'Fetch absences of E-17'"),
        ((*ENGLISH, "--model", "nobody:nothing"), 2, "--model"),
    ],
)
def test_what_cannot_be_encoded_is_refused(arguments: tuple[str, ...], code: int, reason: str) -> None:
    found, out, err = run("encode", *arguments)
    assert (found, out) == (code, "")
    assert reason in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("text", "reason"), [("name = ", "own.toml:1:1: E1001"), ('name = "own"', "E1004: workflow: expected")]
)
def test_a_workflow_that_is_none_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    code, _, err = run("encode", "--workflows", str(path))
    assert code == 1
    assert reason in err


def test_english_is_encoded_by_one_s_own_rule(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    code, out, err = run("encode", *ENGLISH, "--workflows", str(path))
    assert (code, out) == (0, "FETCH|HR|return:A|p:2|aacp:1.1|filter:emp=E-17\n")
    assert err == "rule, seen 1\n"


def test_a_model_is_asked_once_and_the_registry_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel(script=[AIMessage("FETCH|HR|res:absence")])

    def init(name: str, **options: Any) -> ScriptedModel:
        assert name == "scripted:one"
        return model

    monkeypatch.setattr("langchain.chat_models.init_chat_model", init)
    path = str(tmp_path / "known.sqlite")
    known = [run("encode", *ENGLISH, "--model", "scripted:one", "--registry", path) for _ in range(2)]
    assert [out for _, out, _ in known] == ["FETCH|HR|return:A|p:2|aacp:1.1|res:absence\n"] * 2
    assert [err.splitlines() for _, _, err in known] == [
        ["warning: omitted: packet: 'E-17' of the instruction is not in it", "model, seen 1"],
        ["warning: omitted: packet: 'E-17' of the instruction is not in it", "exact, seen 2"],
    ]
    assert len(model.received) == 1


def test_errors_and_warnings_are_told_with_their_place() -> None:
    code, out, err = run("validate", "-", text=f"{PACKET}\r\n\nFETCH|HR||return:A|aacp:1.1\n")
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "-:3:10: error: empty: slot 3: an empty slot",
        "-:3:1: warning: missing: p: is missing; 2 (medium) is the default",
    ]


def test_personal_data_can_be_forbidden() -> None:
    text = f"{PACKET}|to:a@b.example\n"
    assert run("validate", text=text)[0] == 0
    assert run("validate", "--forbid", text=text)[0] == 1


def test_packets_and_records_are_explained() -> None:
    record = json.dumps({"at": 7, "run": "r", "packet": PACKET, "status": "ok"})
    said = "Fetch (human resources): resource 'x'; answer to 'A'; critical priority; AACP 1.1."
    assert run("explain", text=f"{PACKET}\n{record}\n") == (0, f"{said}\n7 r ok: {said}\n", "")


@pytest.mark.parametrize(
    ("text", "place"), [(f"{PACKET}|x", "-:1:38"), ('{"at": 1}', "-:1:1"), (f"{PACKET}\n|", "-:2:1")]
)
def test_what_is_no_packet_is_not_explained(text: str, place: str) -> None:
    code, _, err = run("explain", text=text)
    assert code == 1
    assert err.startswith(f"{place}: E1001: ")


def test_what_is_no_record_is_told_with_its_code_and_the_missing_members() -> None:
    assert run("explain", text='{"a":1}') == (
        1,
        "",
        "-:1:1: E1001: expected an audit record: expected the members at, run, packet, found 'a'\n",
    )


RULES = json.dumps({"rules": [{"name": "Fetch it", "packet": PACKET}, {"name": "Break it", "packet": "FETCH"}]})


def test_rules_are_imported_listed_and_forgotten(tmp_path: Path) -> None:
    path = str(tmp_path / "known.sqlite")
    code, _, err = run("registry", "import", path, "-", "--keep-english", text=RULES)
    assert code == 0
    assert err.splitlines() == [
        "-: refused: item 2: DOM: is missing, at position 5",
        "-: 1 new entries, 1 refused",
    ]
    assert run("registry", "list", path)[1:] == (f"1\t-\t{PACKET}\tFetch it\n", "1 entries\n")
    assert run("registry", "forget", path, PACKET) == (0, "", f"1 deleted: {PACKET}\n")
    code, _, err = run("registry", "forget", path, PACKET)
    assert code == 1
    assert "E2001: expected an entry with the packet" in err


@pytest.mark.parametrize(
    ("text", "reason"), [("{", "-:1:2: E1001"), ("3", "E1001: expected at most"), ("[" * 100_000, "nested too deep")]
)
def test_a_file_that_is_no_registry_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    code, _, err = run("registry", "import", str(tmp_path / "known.sqlite"), "-", text=text)
    assert code == 1
    assert reason in err
    assert list(tmp_path.iterdir()) == []


def test_a_registry_that_is_not_there_or_no_database_is_refused(tmp_path: Path) -> None:
    assert run("registry", "list", str(tmp_path / "none.sqlite"))[0] == 2
    path = tmp_path / "notes.txt"
    path.write_text("notes " * 1_000, encoding="utf-8")
    code, _, err = run("registry", "list", str(path))
    assert code == 1
    assert "not a database" in err
