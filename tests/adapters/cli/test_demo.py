"""`accp demo`: one large result before and after, and the same answer without and with us over any folder."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app

runner = CliRunner()
ROWS = [
    {"id": n, "name": f"item {n * 37 % 101}", "price": round(n * 1.17, 2), "where": f"shelf {n % 9}"}
    for n in range(300)
]


def source(folder: Path) -> None:
    for n in range(40):
        body = "\n".join(f"def step_{k}(value):\n    return value + {n * k}\n" for k in range(n + 3))
        (folder / f"module_{n}.py").write_text(f"import module_{(n + 1) % 40}\n\n{body}", encoding="utf-8")


def tables(folder: Path) -> None:
    for n in range(5):
        with (folder / f"stock_{n}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(ROWS[0]))
            writer.writeheader()
            writer.writerows(ROWS[: 60 * (n + 1)])
    (folder / "notes.csv").write_text("file,note\nstock_4.csv,the longest\nstock_3.csv,as stock_4 but shorter\n")


def documents(folder: Path) -> None:
    for n in range(5):
        text = json.dumps({"file": f"orders_{n}", "rows": ROWS[: 50 * (n + 1)]}, indent=2)
        (folder / f"orders_{n}.json").write_text(text, encoding="utf-8")
    (folder / "index.json").write_text(json.dumps([{"path": f"orders_{n}.json"} for n in range(5)], indent=1))


def lines_of_json(folder: Path) -> None:
    (folder / "events.jsonl").write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    (folder / "sources.jsonl").write_text('{"from": "events.jsonl"}\n{"from": "events, again"}\n', encoding="utf-8")


def logs(folder: Path) -> None:
    for name in ("web", "worker"):
        text = "\n".join(
            f"2026-05-01T10:{n // 60 % 60:02}:{n % 60:02}Z INFO {name} request {n * 7919}" for n in range(900)
        )
        (folder / f"{name}.log").write_text(text, encoding="utf-8")
    (folder / "restart.log").write_text("2026-05-01 restarted web after worker\n", encoding="utf-8")


def tracks(folder: Path) -> None:
    points = "\n".join(
        f'  <trkpt lat="{60 + n / 1000}" lon="{10 + n / 500}"><ele>{n % 90}</ele></trkpt>' for n in range(500)
    )
    (folder / "tour.gpx").write_text(f'<?xml version="1.0"?>\n<gpx>\n{points}\n</gpx>\n', encoding="utf-8")
    (folder / "tours.xml").write_text('<tours>\n  <tour file="tour.gpx"/>\n</tours>\n', encoding="utf-8")


def markdown(folder: Path) -> None:
    for n in range(12):
        table = "\n".join(f"| step {k} | see chapter_{k % 12} | {k * n} |" for k in range(30 + n))
        text = f"# Chapter {n}\n\n| what | where | count |\n|---|---|--:|\n{table}\n\nSee chapter_{(n + 1) % 12}.md.\n"
        (folder / f"chapter_{n}.md").write_text(text, encoding="utf-8")


def settings(folder: Path) -> None:
    for n in range(8):
        text = "\n".join(f"{key}_{k} = {k * n}" for k in range(60) for key in ("timeout", "limit"))
        (folder / f"service_{n}.ini").write_text(
            f"[service_{n}]\nuses = service_{(n + 3) % 8}\n{text}\n", encoding="utf-8"
        )


def prose(folder: Path) -> None:
    for n in range(4):
        lines = (f"In the {k}th year of letter_{k % 4} nobody asked why {k * n}." for k in range(200 + n))
        (folder / f"letter_{n}.txt").write_text("\n\n".join(lines), encoding="utf-8")


def tree(folder: Path) -> None:
    for n in range(900):
        place = folder / "packages" / f"service-{n % 31}" / "src" / "components"
        place.mkdir(parents=True, exist_ok=True)
        text = f'import "./part_{n * 7 % 900}"\n' + "let a = 1\n" * (13 * n % 701)
        (place / f"part_{n}.ts").write_text(text, encoding="utf-8")


def mixed(folder: Path) -> None:
    for number, make in enumerate((source, tables, documents, logs, tracks, markdown)):
        (folder / f"part_{number}").mkdir()
        make(folder / f"part_{number}")


KINDS = (source, tables, documents, lines_of_json, logs, tracks, markdown, settings, prose, tree, mixed)


def test_a_result_is_shown_before_and_after_and_the_answers_are_equal(tmp_path: Path) -> None:
    source(tmp_path)
    shown = runner.invoke(app, ["demo", "--folder", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    first, _, rest = shown.stdout.partition("as the model is sent it")
    assert "as the tool returned it" in first
    assert "tokens of all prompts" in rest and "The same final answer:" in rest and "module_39.py (" in rest


def test_a_folder_without_text_files_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    assert runner.invoke(app, ["demo", "--folder", str(tmp_path)]).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_the_final_answers_are_equal_over_folders_of_any_kind(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path)
    shown = runner.invoke(app, ["demo", "--folder", str(tmp_path)])
    assert (shown.exit_code, "mentioned in" in shown.stdout) == (0, True), shown.output[-2_000:]
