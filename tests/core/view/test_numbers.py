"""Numbers that a source spells unusually keep their spelling: `12.50`, `1E5`, `1e+06`."""

from __future__ import annotations

from accp_core.view import render_text


def count(text: str) -> int:
    return len(text)


def test_equal_numbers_of_different_spelling_make_no_constant() -> None:
    source = '[{"name": "first", "price": 1.50}, {"name": "second", "price": 1.500}]'
    view = render_text(source, counter=count)
    assert "price=" not in view.text
    assert view.restore() == source
