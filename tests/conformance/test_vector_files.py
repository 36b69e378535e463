"""The files of vectors have one form: known members, vectors of every kind, each name once."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.vectors import ROOT, files, load

FAMILIES = ("accp", "aacp", "aci", "acp", "view")
SCHEMA: dict[str, Any] = json.loads((ROOT / "schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [path for family in FAMILIES for path in files(family)], ids=lambda path: path.stem)
def test_a_file_has_the_form_of_the_schema(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert set(SCHEMA["required"]) <= set(content) <= set(SCHEMA["properties"])
    for kind in set(content) - set(SCHEMA["required"]):
        names = [vector["name"] for vector in content[kind]]
        assert len(names) == len(set(names)), kind
        shape = SCHEMA["$defs"][kind]
        for vector in content[kind]:
            assert set(shape["required"]) <= set(vector) <= set(shape["properties"]), vector["name"]


def test_there_are_vectors_of_every_kind() -> None:
    kinds = set(SCHEMA["properties"]) - set(SCHEMA["required"])
    assert [kind for kind in kinds if sum(len(load(family, kind)) for family in FAMILIES) < 3] == []
