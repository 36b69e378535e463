"""A tool result that is stored compressed, and the way back, without a graph."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage

from accp_adapters.langchain import to_records
from accp_adapters.langgraph import Policy
from accp_adapters.langgraph.node import compressed_message, restore_message, stored_units
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.projection import Projector
from accp_core.references import StoredText, key_of, short_reference
from tests.adapters.langgraph.jobs import ROWS

FEW = json.dumps(ROWS[:20])
MANY = json.dumps(ROWS)
IMAGE = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}


def message(content: Any, **fields: Any) -> ToolMessage:
    return ToolMessage(content=content, tool_call_id="c1", name="crm", id="m1", **fields)


def compress(source: ToolMessage, policy: Policy | None = None) -> tuple[ToolMessage, tuple[StoredText, ...]]:
    # A prompt as long as most are, which the provider caches whatever is saved.
    chosen = policy or Policy()
    (record,) = to_records([source], stored=stored_units)
    return compressed_message(source, Projector(chosen.rules).compress(record))


def tokens(of: ToolMessage) -> int:
    return count_o200k(of.text)


def test_a_result_that_fits_is_shown_whole_in_fewer_tokens() -> None:
    source = message(FEW)
    small, items = compress(source)
    assert tokens(small) < tokens(source)
    assert items == ()
    assert small.additional_kwargs == {"accp": {"blocks": [{"layout": ANY}]}}
    assert restore_message(small) == source


def test_a_result_that_does_not_fit_is_previewed_and_kept_whole() -> None:
    source = message(MANY)
    small, items = compress(source)
    key = key_of(MANY)
    assert items == (StoredText.of(MANY),)
    assert short_reference(key) in small.text
    assert tokens(small) <= Policy().preview_limit
    assert small.additional_kwargs == {"accp": {"blocks": [{"ref": key}]}}
    assert restore_message(small, {key: MANY}.get) == source


def test_a_preview_whose_text_is_gone_cannot_be_restored() -> None:
    small, _ = compress(message(MANY))
    for read_cold in (None, {}.get):
        with pytest.raises(ProtocolError, match=r"E2001: expected the stored text of '\$cold\."):
            restore_message(small, read_cold)


@pytest.mark.parametrize(
    "forged",
    [
        "x",
        None,
        [],
        {"blocks": 5},
        {"blocks": [None, None]},
        {"blocks": ["layout"]},
        {"blocks": [{"layout": 5}]},
        {"blocks": [{"ref": "cold.1"}]},
        {"blocks": [{"layout": "", "ref": key_of(MANY)}]},
        {"refs": [key_of(MANY)], "texts": [[key_of(MANY), "x"]]},
    ],
)
def test_metadata_of_another_shape_changes_nothing(forged: Any) -> None:
    source = message(MANY, additional_kwargs={"accp": forged})
    assert restore_message(source, {}.get) is source


def test_a_preview_of_another_text_cannot_be_restored() -> None:
    small, _ = compress(message(MANY))
    with pytest.raises(ProtocolError, match=r"E2001: expected the stored text of .*, found another text"):
        restore_message(small, lambda key: f"{MANY} ")


def test_everything_but_the_text_stays() -> None:
    source = message(FEW, artifact={"raw": 1}, additional_kwargs={"mine": 1}, response_metadata={"r": 1})
    small, _ = compress(source)
    kept = {"id", "name", "tool_call_id", "status", "artifact", "response_metadata", "type"}
    assert small.model_dump(include=kept) == source.model_dump(include=kept)
    assert small.additional_kwargs["mine"] == 1
    assert source.additional_kwargs == {"mine": 1}


def test_a_rewritten_message_is_not_rewritten_again() -> None:
    for policy in (Policy(), Policy(inline_limit=1, preview_limit=60)):
        small, _ = compress(message(FEW))
        assert compress(small, policy) == (small, ())


@pytest.mark.parametrize(
    ("source", "policy"),
    [
        (message(FEW, status="error"), Policy()),
        (message(MANY), Policy(tools={"crm": "as_is"})),
        (message("Nothing to say."), Policy()),
        (message(""), Policy()),
        (message([]), Policy()),
        (message([IMAGE, {"type": "text", "text": ""}]), Policy()),
    ],
    ids=["error", "excluded", "prose", "empty", "no blocks", "no text"],
)
def test_what_must_stay_is_the_same_object(source: ToolMessage, policy: Policy) -> None:
    assert compress(source, policy)[0] is source
    assert restore_message(source) is source


def test_each_text_block_is_opened_and_other_blocks_stay() -> None:
    blocks = [{"type": "text", "text": FEW, "id": "b1"}, IMAGE, FEW, {"type": "text", "text": "prose"}]
    source = message(blocks)
    small, _ = compress(source)
    first, image, second, prose = small.content
    assert isinstance(first, dict)
    assert {**first, "text": f"\nsource text:{first['text']}"} == {"type": "text", "text": second, "id": "b1"}
    assert len(str(second)) < len(FEW)
    assert (image, prose) == (IMAGE, {"type": "text", "text": "\nsource text:prose"})
    assert small.additional_kwargs["accp"]["blocks"][1] is None
    assert restore_message(small) == source


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=30,
)
ROWS_OF = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 9_999), "name": st.text(max_size=12), "ok": st.booleans()}), max_size=30
)
SOURCES = st.text() | st.builds(
    json.dumps, VALUES | ROWS_OF, indent=st.sampled_from([None, 2]), ensure_ascii=st.booleans()
)
CONTENTS = SOURCES | st.lists(
    SOURCES | st.builds(lambda text: {"type": "text", "text": text}, SOURCES) | st.just(IMAGE), max_size=4
)
POLICIES = st.sampled_from([Policy(), Policy.lossless(), Policy(inline_limit=1, preview_limit=60)])


@given(CONTENTS, POLICIES)
def test_a_result_never_grows_and_always_comes_back(content: Any, policy: Policy) -> None:
    source = message(content)
    small, items = compress(source, policy)
    assert sum(map(count_o200k, _texts(small))) <= sum(map(count_o200k, _texts(source)))
    assert restore_message(small, {item.key: item.text for item in items}.get) == source
    assert compress(small, policy) == (small, ())
    assert compress(source, policy) == (small, items)


def _texts(of: ToolMessage) -> list[str]:
    blocks = [of.content] if isinstance(of.content, str) else of.content
    return [block if isinstance(block, str) else block.get("text", "") for block in blocks]
