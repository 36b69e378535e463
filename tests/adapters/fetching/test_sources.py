"""How stored texts are opened where only their value counts."""

from __future__ import annotations

import json

from accp_adapters.fetching.sources import open_source, open_stored

PEOPLE = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bo"}]


def test_json_is_its_value_and_other_text_itself() -> None:
    text = f"Two people:\n{json.dumps(PEOPLE)}\nThat is all."
    assert open_source(json.dumps(json.dumps(PEOPLE))) == PEOPLE
    assert open_source(text) == text
    assert open_stored(text).value == PEOPLE
