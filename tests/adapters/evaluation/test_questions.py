"""The shipped documents and the questions about them: each has one answer, which another program finds, too."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.evaluation import Document, read_documents, shipped_documents
from accp_adapters.evaluation.reading.forms import READING_FORMS
from accp_adapters.evaluation.reading.grading import grade
from accp_adapters.evaluation.reading.questions import QUESTION_KINDS, Question, questions_of
from accp_adapters.tokens import o200k_base
from accp_core.view import read
from tests.adapters.evaluation.solver import answers_to

DOCUMENTS = list(shipped_documents())
BY_NAME = {document.name: document for document in DOCUMENTS}


@functools.cache
def asked_about(name: str) -> list[Question]:
    """Return the questions about a shipped document: made by the worker that needs them, when it does."""
    return questions_of(BY_NAME[name], seed=0, per_kind=2)


def value_of_text(document: Document, text: str) -> Any:
    """Return the value that a reader of the JSON text has: all whole entries of one that was cut off."""
    if document.kind == "read again":
        return {name: int(value) for name, value in (line.split("  #")[0].split(" = ") for line in text.split("\n"))}
    if document.kind == "cut off":
        text = text[: text.rindex("},") + 1] + "]}"
    return json.loads(text)


def test_there_are_at_least_sixty_documents_with_names_of_their_own() -> None:
    assert len({document.name for document in DOCUMENTS}) == len(DOCUMENTS) >= 60


def test_the_same_seed_gives_the_same_documents_and_questions() -> None:
    assert list(shipped_documents()) == DOCUMENTS
    assert questions_of(DOCUMENTS[0], seed=0, per_kind=2) == asked_about(DOCUMENTS[0].name)
    assert questions_of(DOCUMENTS[0], seed=1, per_kind=2) != asked_about(DOCUMENTS[0].name)


@pytest.mark.slow
def test_every_kind_of_question_is_asked_about_several_documents() -> None:
    asked = Counter(question.kind for document in DOCUMENTS for question in asked_about(document.name))
    assert set(asked) == set(QUESTION_KINDS)
    assert min(asked.values()) >= 10


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_another_program_finds_the_one_answer_in_the_json_and_in_the_view(document: Document) -> None:
    values = [value_of_text(document, document.source)]
    if document.kind not in ("cut off", "read again"):
        values.append(read(READING_FORMS["view"](document, o200k_base())))
    for value in values:
        for question in asked_about(document.name):
            assert_one_answer(question, answers_to(question.asks, value))


def assert_one_answer(question: Question, found: list[Any]) -> None:
    if isinstance(question.answer, tuple):
        assert sorted(map(str, found)) == sorted(map(str, question.answer)), question
    else:
        assert found == [question.answer], question


def test_no_form_of_ours_is_longer_than_the_json() -> None:
    counter = o200k_base()
    for document in DOCUMENTS:
        assert counter(READING_FORMS["view"](document, counter)) <= counter(document.source), document.name


def test_documents_of_a_user_are_read_from_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('[{"id": 1, "n": 2}]', encoding="utf-8")
    (tmp_path / "a.json").write_text('{"rows": []}', encoding="utf-8")
    assert [(each.name, each.source) for each in read_documents([tmp_path])] == [
        ("a.json", '{"rows":[]}'),
        ("b.json", '[{"id":1,"n":2}]'),
    ]
    (tmp_path / "a.json").write_text("no JSON", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.json: expected JSON, found "):
        list(read_documents([tmp_path]))
    (tmp_path / "a.json").write_text("[" + " " * 1_000_000 + "]", encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.json: expected at most 1,000,000 characters, found 1,000,002"):
        list(read_documents([tmp_path]))


ODD: dict[str, Any] = {
    "what is no short scalar is not absent": [
        {"name": name, "s": value}
        for name, value in zip("abcdefgh", ["x ", "y", "", "l1\nl2", [1], {}, "z" * 300, {"t": 1}], strict=True)
    ]
    + [{"name": "i", "s": None}, {"name": "j"}],
    "names with dots": {"a": {"b.c": 3, "b": {"c": 4}}, "a.b": {"c": 1}, "rows": {"a.b": 5}},
    "lists with dots": {
        "a.b": [{"id": n, "n": n * 6} for n in range(5)],
        "a": {"b": [{"id": n, "n": n} for n in range(5)]},
    },
    "columns with dots": [{"id": n, "a.b": n * 10, "a": {"b": n * 7 + 1}} for n in range(6)],
    "names that cannot be written down": [
        {"id": n, "`": n, "x`y": n, "": n, "l\n2": n, "caf\u00e9": n} for n in range(5)
    ],
    "equal numbers": [{"id": id, "n": n} for id, n in enumerate([5, 5.0, 5, 7, 7.0, 0, -0.0, 0.0, 1, True])],
    "hashes as keys": [{"sha": sha, "n": n} for n, sha in enumerate(["3e1234567", "4e7654321", "5e1", "50", "0x1"])],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_documents_have_questions_with_one_answer_or_none(name: str) -> None:
    document = Document.of(name, "file", ODD[name])
    for question in questions_of(document, seed=1, per_kind=12):
        assert_one_answer(question, answers_to(question.asks, ODD[name]))
        assert grade(question, "abc").right is False
        assert "`s`" not in question.text and "a.b.c" not in question.text
