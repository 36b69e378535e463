"""Properties of the view of every value and of every text."""

import hashlib
import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, preview, read, render, render_text
from accp_core.strict_json import compact_json
from accp_core.view import Options
from accp_core.view.render_value import render_tree
from tests.core.exactly import exactly
from tests.core.view.payloads import PAYLOADS
from tests.properties.json_values import all_sources, edited, signs, sources, values

counter = o200k_base()
REF = "$cold.1f2e3d4c"
OPENING = f"accp_fetch {REF}"
options = st.builds(Options, embedded_json=st.booleans(), repeated_values=st.booleans(), derived=st.booleans())

_parts = st.sampled_from(["/1", "/12", "/a", "/a/b", "?q={x}", "1", "", "/$id", "/b c", ")", "*"])
_addresses = st.lists(_parts, max_size=3).map(lambda parts: f"https://a.example{''.join(parts)}")
_members = st.dictionaries(
    st.sampled_from(["id", "url", "next_url", "the id", "a-b", "name"]),
    st.one_of(_addresses, st.sampled_from([1, 12, True, None, "a", "", 1.5, "https://a.example"])),
    max_size=5,
)
addresses = st.one_of(
    _members, st.lists(_members, max_size=4), st.lists(st.fixed_dictionaries({"user": _members, "url": _addresses}))
)


@pytest.mark.slow
@given(values)
def test_a_value_is_read_back_type_for_type_from_no_more_tokens(value: Any) -> None:
    view = render(value, counter=counter)
    assert exactly(read(view)) == exactly(value)
    assert counter(view) <= counter(compact_json(value))
    assert render(value, counter=counter) == view


@given(values, options)
def test_the_notation_is_read_back_with_any_options_whatever_it_costs(value: Any, chosen: Options) -> None:
    notation = render_tree(value, compact_json(value), counter=len, options=chosen)
    if notation is not None:
        assert exactly(read(notation)) == exactly(value)


@given(addresses, options)
@example([{"id": 1, "url": "https://a.example/1"}, {"id": None, "url": "https://a.example/"}], Options())
def test_addresses_that_contain_other_values_are_read_back(value: Any, chosen: Options) -> None:
    notation = render_tree(value, compact_json(value), counter=len, options=chosen)
    assert notation is not None
    assert exactly(read(notation)) == exactly(value)


_names = st.sampled_from("abcdefghij")
_inner = st.dictionaries(_names, st.integers(0, 9), min_size=1, max_size=6).map(lambda row: dict(sorted(row.items())))
_wide = st.dictionaries(_names, st.integers(0, 9) | _inner, min_size=1).map(lambda row: dict(sorted(row.items())))


@given(st.lists(_wide, min_size=2, max_size=8))
@example(
    [
        {"a": n, "b": {"a": 1, "b": 2, "c": 3} if n % 2 else {"b": 1}, **({"c": 1, "d": 2} if n % 2 else {}), "e": 5}
        for n in range(6)
    ]
)
def test_no_row_has_more_than_three_absent_cells_in_succession(rows: list[Any]) -> None:
    notation = render_tree(rows, compact_json(rows), counter=len, options=Options())
    assert notation is not None
    assert re.search(r"(?:^|[ \[{;])-(?:,? -){3}", notation, re.MULTILINE) is None
    assert exactly(read(notation)) == exactly(rows)


@pytest.mark.slow
@given(values)
def test_a_view_is_read_the_same_after_another_round(value: Any) -> None:
    view = render(value, counter=counter)
    assert render(read(view), counter=counter) == view


@pytest.mark.slow
@given(all_sources)
@example("[" * 10_000)
@example('{"a":' * 10_000)
@example("['" * 10_000)
def test_any_text_comes_back_byte_for_byte_and_costs_no_more(source: str) -> None:
    view = render_text(source, counter=counter)
    assert view.restore() == source
    assert view.tokens_before == counter(source)
    assert view.tokens_after == counter(view.text) <= view.tokens_before
    assert render_text(source, counter=counter) == view


@pytest.mark.slow
@given(sources, options)
def test_any_text_comes_back_with_any_options(source: str, chosen: Options) -> None:
    assert render_text(source, counter=len, options=chosen).restore() == source


@pytest.mark.slow
@given(all_sources, st.integers(45, 300), st.text(max_size=20))
def test_a_preview_fits_and_names_the_whole(source: str, limit: int, request: str) -> None:
    text = preview(source, limit=limit, opening=OPENING, counter=counter, request=request)
    assert counter(text) <= limit
    assert REF in text or text == render_text(source, counter=counter).text
    assert preview(source, limit=limit, opening=OPENING, counter=counter, request=request) == text


@given(all_sources, st.integers(-5, 45))
def test_a_preview_is_refused_only_where_the_reference_does_not_fit(source: str, limit: int) -> None:
    try:
        assert counter(preview(source, limit=limit, opening=OPENING, counter=counter)) <= limit
    except ValueError as refusal:
        assert "of at least" in str(refusal)
        assert limit < 40


hostile = st.text() | st.lists(signs, max_size=25).map("".join)
views = values.map(lambda value: render(value, counter=len))


@pytest.mark.slow
@given(hostile | edited(views) | edited(edited(views)))
@example("&1 " * 10_000)
@example("[:a=" * 10_000)
@example("!json " * 10_000)
@example("[2] " + "a{" * 10_000)
@example('[[0,null],{"":[0.00,null]},[0,null]]')
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    try:
        value = read(text)
    except DecodeError as refusal:
        assert 0 <= refusal.position <= len(text)
        assert (refusal.code, refusal.text) == ("E1001", text)
    else:
        # The same value, types and order of keys; a number by itself may lose the spelling of its source.
        assert json.dumps(read(render(value, counter=len))) == json.dumps(value)


def digest() -> str:
    """Return a hash of the texts made of all payloads."""
    texts = []
    for value, _ in PAYLOADS.values():
        source = json.dumps(value, indent=2)
        texts += [
            render(value, counter=counter),
            render_text(source, counter=counter).text,
            preview(source, limit=120, opening=OPENING, counter=counter, request="Ana ord_7303 ERROR"),
        ]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_the_same_input_gives_the_same_bytes_in_every_interpreter(seed: str) -> None:
    program = "from tests.properties.test_view import digest; print(digest())"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.strip() == digest()


@pytest.mark.slow
@given(source=sources, cut=st.integers(0, 5000), mark=st.sampled_from(["", "... [truncated]", "\n\n[cut]\n", "…"]))
def test_a_source_that_was_cut_off_anywhere_comes_back_byte_for_byte(source: str, cut: int, mark: str) -> None:
    text = source[:cut] + mark
    view = render_text(text, counter=counter)
    assert view.restore() == text
    assert view.tokens_after <= counter(text)
