"""The payroll: what it leaves, what it refuses, how it replays."""

import json
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from accp_adapters.stores.instructions import AuditLog
from accp_core.aacp import PayrollEncoder, parse_packet
from accp_core.errors import ProtocolError

FOLDER = Path(__file__).parents[2] / "integrations" / "payroll"
NAMES = ("app", "payroll", "workplace")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    import app  # type: ignore[import-not-found]  # noqa: PLC0415  a script beside its modules

    yield app
    for name in NAMES:
        sys.modules.pop(name)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER / "data", tmp_path / "data"))


@pytest.mark.requirement("aacp:15-3")
@pytest.mark.slow
def test_the_check_passes() -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(FOLDER / "check.py")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.requirement("aacp:15-3")
def test_the_packets_are_those_of_the_encoder(app: ModuleType, data: Path, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    run = app.run_payroll(app.Workplace(data, tmp_path), log, "2024-08")
    payroll = PayrollEncoder()
    assert [parse_packet(text) for text in run["done"]] == [
        payroll.fetch_employees("2024-08"),
        payroll.fetch_budgets("2024-08"),
        payroll.merge_and_calculate("2024-08"),
        payroll.generate_report("2024-08", formats=["csv"]),
        payroll.log_run("2024-08", chain=["HRMS", "FIN", "PAY", "RPT", "AUD", "MAIL"]),
        payroll.send_report("2024-08", attachment="csv"),
    ]
    records, refused = log.read()
    assert [record.packet for record in records] == run["done"]
    assert refused == []
    assert all(each.same for each in app.replay_log(app.Workplace(data, tmp_path), log))


@pytest.mark.requirement("aacp:15-3")
def test_a_month_without_flags_is_ok(app: ModuleType, data: Path, tmp_path: Path) -> None:
    run = app.run_payroll(app.Workplace(data, tmp_path), AuditLog(tmp_path / "audit.jsonl"), "2024-07")
    assert app.status(run) == "ok"
    assert run["results"]["payroll"] == (data / "2024-07" / "payroll.csv").read_text(encoding="utf-8")
    assert json.loads(run["results"]["run"])["status"] == "ok"


@pytest.mark.requirement("aacp:15-3")
@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("employees.csv", "4425.00", "4425,00", "employees.csv:3: expected as many cells"),
        ("employees.csv", "4425.00", "n/a", "base_salary: expected an amount, found 'n/a'"),
        ("employees.csv", "status", "state", "expected fields of .*; found status"),
        ("budgets.csv", "620000", "Infinity", "approved_budget: expected an amount, found 'Infinity'"),
        ("budgets.csv", "ytd_spend", "spent", "expected fields of .*; found ytd_spend"),
    ],
)
def test_data_that_is_wrong_stops_the_run_where_it_is_wrong(
    name: str, old: str, new: str, reason: str, app: ModuleType, data: Path, tmp_path: Path
) -> None:
    path = data / "2024-08" / name
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ProtocolError, match=reason):
        app.run_payroll(app.Workplace(data, tmp_path), AuditLog(tmp_path / "audit.jsonl"), "2024-08")
    assert not (tmp_path / "payroll_2024-08.csv").exists()


@pytest.mark.requirement("aacp:15-3")
def test_an_employee_of_a_centre_without_budget_is_flagged(app: ModuleType, data: Path, tmp_path: Path) -> None:
    path = data / "2024-08" / "budgets.csv"
    path.write_text("\n".join(path.read_text(encoding="utf-8").splitlines()[:-1]) + "\n", encoding="utf-8")
    run = app.run_payroll(app.Workplace(data, tmp_path), AuditLog(tmp_path / "audit.jsonl"), "2024-08")
    flags = {slip["cc_id"]: slip["flag"] for slip in app.parse_rows(run["results"]["payroll"])}
    assert (flags["CC-500"], flags["CC-100"]) == ("no_budget", "")


@pytest.mark.requirement("aacp:15-3")
@pytest.mark.parametrize(
    ("packet", "reason"),
    [
        ("FETCH|LEGAL|return:A|aacp:1.1", "E4001: expected a packet that an agent performs, found FETCH.LEGAL"),
        ("FETCH|HR|return:A|aacp:1.1|fmt:json", "E1004: FETCH: expected period, found nothing"),
        ("FETCH|HR|return:A|aacp:1.1|fmt:xml|period:2024-08", "fmt: expected json, found 'xml'"),
        ("FETCH|HR|return:A|aacp:1.1|fmt:json|period:../../etc", "E1004: period: expected letters"),
        ("FETCH|FIN|return:A|aacp:1.1|fmt:json|period:2024-08|fields:secret", "expected fields of .*; found secret"),
        ("MERGE|HR|return:A|aacp:1.1|rules:payroll_v3|validate:budget_cc|period:2024-08", "found 'payroll_v3'"),
        (
            "MERGE|HR|return:A|aacp:1.1|rules:payroll_v2|validate:budget_cc|period:2024-08",
            "expected the result 'budget_cc', found none",
        ),
        ("REPORT|HR|return:A|aacp:1.1|fmt:pdf|period:2024-08", "fmt: expected csv, found 'pdf'"),
        ("REPORT|HR|return:A|aacp:1.1|fmt:csv|period:2024-08|src_prev:../x", "E1004: src_prev: expected letters"),
    ],
)
def test_an_agent_refuses_what_it_cannot_do(
    packet: str, reason: str, app: ModuleType, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(ProtocolError, match=reason):
        app.Workplace(data, tmp_path).perform(parse_packet(packet), {})
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.requirement("aacp:15-3")
def test_a_log_with_a_torn_line_is_not_replayed(app: ModuleType, data: Path, tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.path.write_text('{"at":1,"ru', encoding="utf-8")
    with pytest.raises(ProtocolError, match=r"audit\.jsonl:1: expected an audit record"):
        app.replay_log(app.Workplace(data, tmp_path), log)


@pytest.mark.requirement("aacp:15-3")
def test_a_run_that_broke_in_the_middle_goes_on_and_repeats_no_hop(app: ModuleType, data: Path, tmp_path: Path) -> None:
    log, config = AuditLog(tmp_path / "audit.jsonl"), {"configurable": {"thread_id": "2024-08"}}
    before, away = data / "2024-07" / "payroll.csv", tmp_path / "away.csv"
    before.rename(away)
    start = app.Run(period="2024-08", previous="2024-07", packet="", done=[], results={})

    def go(given: object) -> Any:
        with SqliteSaver.from_conn_string(str(tmp_path / "run.sqlite")) as saver:
            return app.build(app.Workplace(data, tmp_path), log).compile(checkpointer=saver).invoke(given, config)

    with pytest.raises(ProtocolError, match="E2001: expected the file"):
        go(start)
    assert [parse_packet(record.packet).task for record in log.read()[0]] == ["FETCH", "FETCH", "MERGE"]
    away.rename(before)
    run = go(None)
    tasks = ["FETCH", "FETCH", "MERGE", "REPORT", "LOG", "SEND"]
    assert [parse_packet(packet).task for packet in run["done"]] == tasks
    assert [record.packet for record in log.read()[0]] == run["done"]
    assert all(each.same for each in app.replay_log(app.Workplace(data, tmp_path), log))


@pytest.mark.requirement("aacp:15-3")
def test_it_starts_as_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr("sys.argv", ["app.py", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / "app.py"), run_name="__main__")
    assert ended.value.code == 0
    assert "Fetch (human resources): resource 'emp_salary'" in capsys.readouterr().out
    for name in NAMES:
        sys.modules.pop(name, None)
