"""The questions of TOON's retrieval benchmark: its own code makes documents and questions in a checkout of its user."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from accp_adapters.evaluation.reading import JSON_FORM, Document, Question

__all__ = ["HOW_TO_GET_TOON", "read_benchmark"]

HOW_TO_GET_TOON: Final = (
    "git clone https://github.com/toon-format/toon && (cd toon && npx pnpm install), with Node.js 22.18 or newer"
)
"""What a user does to have the benchmark."""
_PATIENCE: Final = 120.0
_EXPORT: Final = """
import { ACCURACY_DATASETS } from './src/datasets.ts'
import { FORMATS } from './src/formats.ts'
import { generateQuestions } from './src/questions/index.ts'
import { encodeDataset } from './src/structural-corruption.ts'
const names = { json: 'json-compact', 'json-pretty': 'json-pretty', toon: 'toon' }
const each = make => Object.fromEntries(Object.entries(names).map(([name, theirs]) => [name, make(FORMATS[theirs])]))
const documents = ACCURACY_DATASETS.map(data => ({ name: data.name, texts: each(form => encodeDataset(form, data)) }))
console.log(JSON.stringify({ documents, primers: each(form => form.primer), questions: generateQuestions() }))
"""
"""Prints the documents in each form, damaged where the benchmark damages them, and the questions."""


def read_benchmark(source: Path) -> list[Document]:
    """Return the documents of the benchmark with their questions.

    Args:
        source: A checkout of toon-format/toon; or a file with what it prints, or with questions of one's own:
            `documents` with `name` and either `texts` (the name of a form to a text; `json` is there) or `value`,
            `questions` with `id`, `prompt`, `groundTruth`, `dataset` (the name of the document) and, if need be,
            `type`, `answerType` and `normalizationOptions`, and `primers` of the forms, if need be.

    Raises:
        ValueError: it is no such file, or the checkout cannot print one; the message says how to get it.
        OSError: the file cannot be read.
    """
    text = source.read_text(encoding="utf-8") if source.is_file() else _export(source)
    try:
        content = json.loads(text)
        return [_document(each, content) for each in content["documents"]]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"expected documents and questions of a benchmark in {str(source)!r}: {error!r}") from error


def _document(item: Mapping[str, Any], content: Mapping[str, Any]) -> Document:
    questions = [_question(each) for each in content["questions"] if each["dataset"] == item["name"]]
    if "value" in item:
        return Document.of(item["name"], item["value"], questions)
    texts = {**item["texts"], JSON_FORM: item["texts"][JSON_FORM]}
    return Document(name=item["name"], texts=texts, questions=questions, primers=content.get("primers") or {})


def _question(item: Mapping[str, Any]) -> Question:
    return Question(
        id=item["id"],
        text=item["prompt"],
        answer=item["groundTruth"],
        kind=item.get("type") or "",
        answer_type=item.get("answerType") or "string",
        normalize=item.get("normalizationOptions") or {},
    )


def _export(checkout: Path) -> str:
    folder = checkout / "benchmarks"
    if not folder.is_dir():
        raise ValueError(f"expected a checkout of toon-format/toon at {str(checkout)!r}: {HOW_TO_GET_TOON}")
    command = ["node", "--input-type=module", "-e", _EXPORT]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _not_run(folder, error) from error
    if run.returncode:
        raise _not_run(folder, next((line for line in run.stderr.splitlines() if "Error" in line), run.stderr[-200:]))
    return run.stdout


def _not_run(folder: Path, reason: object) -> ValueError:
    return ValueError(
        f"expected Node.js to run the benchmark in {str(folder)!r}, found {str(reason)!r}: {HOW_TO_GET_TOON}"
    )
