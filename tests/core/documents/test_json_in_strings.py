"""JSON in a string in JSON, in any layout and at any depth, also where the tool cut all of it off."""

import json
from collections.abc import Callable

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, ResultLimits, compress, read, render_text
from accp_core.tables import open_text
from accp_core.view.layout import restore

COUNT = o200k_base()
ROWS = [{"id": n, "name": f'host "é" {n}', "tags": ["eu", "prod"], "at": {"rack": n % 7}} for n in range(200)]
INDENTED = json.dumps(ROWS, indent=2, ensure_ascii=False)
PRETTIER = INDENTED.replace('[\n      "eu",\n      "prod"\n    ]', '["eu", "prod"]')
WRITERS: dict[str, str] = {
    "compact": json.dumps({"items": ROWS}, separators=(",", ":")),
    "indented": json.dumps({"items": ROWS}, indent=2),
    "prettier": f'{{\n  "items": {PRETTIER}\n}}',
    "CRLF": json.dumps({"items": ROWS}, indent=4).replace("\n", "\r\n"),
}
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "a list of blocks": lambda text: json.dumps([{"type": "text", "text": text}]),
    "a block": lambda text: json.dumps({"type": "text", "text": text}, ensure_ascii=False, indent=1),
    "a result": lambda text: json.dumps({"content": [{"type": "text", "text": text}]}),
}
EACH = [*((writer, "a result") for writer in WRITERS), *(("compact", wrapping) for wrapping in list(WRAPPINGS)[:2])]
each = pytest.mark.parametrize(("writer", "wrapping"), EACH)
ENDS = ["", "... [truncated]", "\n\n[20000 characters omitted]\n"]


def cut(writer: str, wrapping: str, end: str = "") -> str:
    return WRAPPINGS[wrapping](WRITERS[writer])[:9_000] + end


@each
def test_a_document_in_a_string_is_read_in_any_layout(writer: str, wrapping: str) -> None:
    source = WRAPPINGS[wrapping](WRITERS[writer])
    view = render_text(source, counter=COUNT)
    assert view.restore() == source
    assert view.tokens_after <= 1.05 * render_text(WRITERS[writer], counter=COUNT).tokens_after
    assert open_text(source).value == {"items": ROWS}


def test_a_view_is_read_without_its_layout_only_where_codes_tell_the_same_bytes() -> None:
    styled = json.dumps([json.dumps(ROWS[:3]), json.dumps(ROWS[:3], indent=2), WRITERS["compact"]])
    assert read(render_text(styled, counter=COUNT).text) == json.loads(styled)
    for view in (render_text(json.dumps([PRETTIER]), counter=COUNT).text, 'a !view "b"'):
        with pytest.raises(DecodeError, match=r"E1001: expected the layout beside this view for '!(json~|view)'"):
            read(view)


def test_documents_in_strings_of_several_layouts_come_back_in_their_order() -> None:
    texts = [json.dumps({"n": n, "rows": ROWS[:3]}, indent=[None, 2, 2, "\t"][n % 4]) for n in range(12)]
    source = json.dumps([{"message": n, "result": text} for n, text in enumerate([*texts, *texts])])
    view = render_text(source, counter=COUNT)
    assert view.restore() == source
    assert view.tokens_after < view.tokens_before / 3


@pytest.mark.parametrize("end", ENDS)
@each
def test_what_was_cut_off_in_a_string_has_tables_that_are_said_to_be_cut(writer: str, wrapping: str, end: str) -> None:
    opened = open_text(cut(writer, wrapping, end))
    (table,) = opened.tables()
    assert (table.name, opened.cut) == ("items", "was cut off")
    assert 20 < len(table.rows) < len(ROWS)
    limits = ResultLimits(inline=300, preview=300)
    first = compress(cut(writer, wrapping, end), limits=limits, counter=COUNT, open_with="accp_fetch").text.split("\n")
    assert "the source was cut off" in first[0]
    assert first[1].startswith(f"items: {len(table.rows)} rows")


def test_a_layout_that_does_not_fit_the_documents_in_strings_is_refused() -> None:
    text = "a !json {b [1, 2]}"
    with pytest.raises(DecodeError, match="a layout for each document") as refusal:
        restore(text, f"v4 o:{len(text)}")
    assert refusal.value.code == "E1001"


@pytest.mark.parametrize("levels", ["[" * 100_000, '{"a":' * 100_000, '{"a":' * 500 + "1" + "}" * 500])
def test_a_document_of_too_many_levels_in_a_string_stays_text(levels: str) -> None:
    source = json.dumps({"a": levels, "b": 1})
    view = render_text(source, counter=len)
    assert view.restore() == source
    assert "!json" not in view.text
