"""The observed agent: its dashboard asks for the counters that there are, and a real Prometheus answers its queries."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import generate_latest

from accp_adapters import telemetry
from accp_adapters.telemetry import METRICS, RewritingRecord, Telemetry
from tests.limits import LONG

FOLDER = Path(__file__).parents[2] / "integrations" / "telemetry"
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))


@pytest.fixture
def meters(monkeypatch: pytest.MonkeyPatch) -> Iterator[MeterProvider]:
    """Yield a provider whose counters Prometheus can scrape."""
    provider = MeterProvider([PrometheusMetricReader()])
    monkeypatch.setattr(telemetry.metrics, "get_meter", provider.get_meter)
    yield provider
    provider.shutdown()


def queries() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def test_the_dashboard_asks_for_exactly_the_counters_that_are_exported(meters: MeterProvider) -> None:
    told = Telemetry("langgraph")
    told.rewritten([RewritingRecord(source="crm", tokens_before=90, tokens_after=30, references=("cold.1",))])
    told.opened(["cold.1"])
    told.refused("E5002: no")
    told.answered(1)
    told.passed_on("write", ["cold.1"], 7)
    told.store_failed("no store")
    told.projection_failed(1)
    exported = generate_latest().decode()
    names = set(re.findall(r'^(accp_\w+_total)\{accp_adapter="langgraph"[,}]', exported, re.MULTILINE))
    assert len(names) == len(METRICS)
    assert set(re.findall(r"\baccp_\w+_total", " ".join(queries()))) == names


def test_every_query_is_of_the_chosen_adapter_and_every_panel_says_what_it_shows() -> None:
    for query in queries():
        assert query.count('{accp_adapter=~"$adapter"}') == len(re.findall(r"\baccp_\w+_total", query))
    assert all(panel["description"] for panel in DASHBOARD["panels"])
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == {"adapter", "source"}


def test_prometheus_understands_every_query(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool here: apt-get install prometheus")
    values = {"$__range": "1m", "$__rate_interval": "10s", "$adapter": ".*"}
    rules = []
    for number, query in enumerate(queries()):
        for variable, value in values.items():
            query = query.replace(variable, value)
        rules.append({"record": f"query:{number}", "expr": query})
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8")
    done = subprocess.run(["promtool", "check", "rules", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


@pytest.mark.slow
def test_the_agent_works_and_exports(tmp_path: Path) -> None:
    program = "import app, json; print(json.dumps(app.work(2)))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    stats = json.loads(done.stdout)
    assert stats["tokens_after"] < 0.1 * stats["tokens_before"]
    assert {stats[f"references_{name}"] for name in ("made", "opened", "refused", "answered")} == {2}


@pytest.mark.skipif(not LONG, reason="starts Prometheus and waits for it to scrape; ACCP_LONG=1")
def test_a_real_prometheus_answers_every_query() -> None:
    done = subprocess.run([sys.executable, str(FOLDER / "check.py")], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
