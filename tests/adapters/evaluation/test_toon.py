"""TOON's benchmark: its documents and questions, read from a file that its own code prints."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.evaluation import evaluate
from accp_adapters.evaluation.solvers import DocumentSolver
from accp_adapters.evaluation.toon import read_benchmark
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
ROWS = {"employees": [{"id": number, "name": f"Person {number}", "active": number % 2 == 0} for number in range(1, 31)]}
LINES = [f"  {row['id']},{row['name']},{str(row['active']).lower()}" for row in ROWS["employees"]]
TOON = "\n".join(["employees[30]{id,name,active}:", *LINES])
SAMPLE: dict[str, Any] = {
    "documents": [
        {"name": "tabular", "texts": {"json": json.dumps(ROWS, separators=(",", ":")), "toon": TOON}},
        {"name": "own", "value": [{"a": 1}]},
    ],
    "primers": {"toon": "TOON: arrays declare length and fields."},
    "questions": [
        {"id": "q1", "prompt": "Who is 7?", "groundTruth": "Person 7", "type": "field-retrieval", "dataset": "tabular"},
        {
            "id": "q2",
            "prompt": "How many are active?",
            "groundTruth": "15",
            "type": "aggregation",
            "dataset": "tabular",
            "answerType": "integer",
            "normalizationOptions": {"decimalPlaces": 2},
        },
        {"id": "q3", "prompt": "What is a?", "groundTruth": "1", "dataset": "own", "answerType": "integer"},
    ],
}
"""What the benchmark prints, of a document of three columns, and a document of a user's own."""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(SAMPLE), encoding="utf-8")
    return path


def test_a_solver_that_reads_its_prompt_is_right_in_every_form(sample: Path) -> None:
    tabular, own = read_benchmark(sample)
    assert [question.id for question in (*tabular.questions, *own.questions)] == ["q1", "q2", "q3"]
    forms = ("json", "toon", "view", "readable")
    report = evaluate(DocumentSolver([tabular], counter=COUNTER), [tabular], counter=COUNTER, forms=forms)
    assert [(arm.arm, arm.right, arm.tasks) for arm in report.arms] == [(form, 2, 2) for form in forms]
    tokens = {arm.arm: arm.tokens for arm in report.arms}
    assert tokens["view"] < tokens["toon"] < tokens["json"]


def test_a_solver_is_wrong_where_its_prompt_says_something_else(sample: Path) -> None:
    (tabular, _), solver = read_benchmark(sample), DocumentSolver(read_benchmark(sample), counter=COUNTER)
    other = tabular.of("tabular", {"employees": ROWS["employees"][1:]}, tabular.questions)
    report = evaluate(solver, [other], counter=COUNTER)
    assert [(arm.right, arm.tasks) for arm in report.arms] == [(0, 2)] * 3
    assert {line["answered"] for line in report.wrong} == {"unknown"}


@pytest.mark.parametrize("content", ["[]", "{}", '{"documents": [{"name": "a"}], "questions": []}', "no JSON"])
def test_a_file_that_holds_no_benchmark_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"expected documents and questions of a benchmark in '.*x\.json': "):
        read_benchmark(tmp_path / "x.json")


def checkout(folder: Path) -> Path:
    """Write a checkout whose modules have the names of the benchmark's and print a part of the sample."""
    modules = {
        "datasets": f"export const ACCURACY_DATASETS: object[] = [{{ name: 'tabular', data: {json.dumps(ROWS)} }}]",
        "formats": "const f = { primer: 'p', encode: (data: unknown) => JSON.stringify(data) }\n"
        "export const FORMATS: object = { 'json-compact': f, 'json-pretty': f, toon: f }",
        "questions/index": f"export const generateQuestions = (): object[] => {json.dumps(SAMPLE['questions'][:2])}",
        "structural-corruption": "export const encodeDataset = (f: any, d: any): string => f.encode(d.data)",
    }
    for name, text in modules.items():
        path = folder / "benchmarks" / "src" / f"{name}.ts"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return folder


def node_version() -> tuple[int, ...]:
    if not shutil.which("node"):
        return (0,)
    shown = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", shown)))


@pytest.mark.skipif(node_version() < (22, 18), reason="needs Node.js 22.18 or newer, which runs TypeScript")
def test_a_checkout_prints_its_documents_and_questions(tmp_path: Path) -> None:
    (tabular,) = read_benchmark(checkout(tmp_path))
    assert json.loads(tabular.texts["json-pretty"]) == ROWS
    assert [question.answer for question in tabular.questions] == ["Person 7", "15"]
    assert tabular.primers["toon"] == "p"


def test_what_is_missing_is_said_with_the_command_that_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how = r".*git clone https://github\.com/toon-format/toon && \(cd toon && npx pnpm install\)"
    with pytest.raises(ValueError, match=r"expected a checkout of toon-format/toon at '.*': " + how):
        read_benchmark(tmp_path / "nothing")
    (tmp_path / "broken" / "benchmarks").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"expected Node\.js to run the benchmark in '.*', found .*: " + how):
        read_benchmark(tmp_path / "broken")


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_a_checkout_that_cannot_run_says_why(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    with pytest.raises(ValueError, match=r"expected Node\.js to run .*, found .*ERR_MODULE_NOT_FOUND.*git clone"):
        read_benchmark(tmp_path)
