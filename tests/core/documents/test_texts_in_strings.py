"""Grids, lines of JSON and YAML in the strings of a JSON document, alone or beside other text."""

import json

import pytest

from accp_adapters.fetching import value_at
from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, ResultLimits, compress, render_text
from accp_core.tables import tables_of
from accp_core.view.layout import restore
from accp_core.view.render_value import Options

COUNT = o200k_base()
CITIES = ("Lima", "Oslo", "Quito")
ROWS = [(n, f"Name {n}", CITIES[n % 3]) for n in range(40)]
TEXTS = {
    "Markdown": "| id | name | city |\n|----|------|------|\n" + "\n".join(f"| {n} | {a} | {c} |" for n, a, c in ROWS),
    "CSV": "id,name,city\n" + "".join(f"{n},{a},{c}\n" for n, a, c in ROWS),
    "TSV": "id\tname\tcity\r\n" + "".join(f"{n}\t{a}\t{c}\r\n" for n, a, c in ROWS),
    "NDJSON": "".join(json.dumps({"id": n, "name": a, "city": c}) + "\n" for n, a, c in ROWS),
    "YAML": "".join(f"- id: {n}\n  name: {a}\n  city: {c}\n" for n, a, c in ROWS),
    "titled": "# People\n\n| id | name | city |\n|---|---|---|\n"
    + "\n".join(f"| {n} | {a} | {c} |" for n, a, c in ROWS)
    + "\n\n40 rows in all",
}
each_text = pytest.mark.parametrize("form", TEXTS)


def wrapped(text: str) -> list[str]:
    return [
        json.dumps({"content": text}),
        json.dumps({"n": 1, "content": text, "is_error": False}, indent=2, ensure_ascii=False),
        json.dumps([{"type": "text", "text": text}, {"type": "text", "text": "Done."}]),
        json.dumps({"result": json.dumps({"content": text})}),
    ]


@each_text
def test_a_text_in_a_string_is_shown_as_its_view(form: str) -> None:
    alone = render_text(TEXTS[form], counter=COUNT)
    for source in wrapped(TEXTS[form]):
        view = render_text(source, counter=COUNT)
        assert view.restore() == source
        assert alone.text.rstrip() in view.text
        assert view.tokens_after <= alone.tokens_after + 40
        assert (
            "!view" in view.text
            and "!view" not in render_text(source, counter=COUNT, options=Options(embedded_json=False)).text
        )


@each_text
def test_queries_and_previews_reach_the_rows_of_a_text_in_a_string(form: str) -> None:
    for source in [*wrapped(TEXTS[form])[:2], json.dumps({"data": {"content": TEXTS[form]}, "n": 2})]:
        name = '"data.content"' if source.startswith('{"data"') else "content"
        assert value_at(source, f"select count(*) from {name} where city = 'Oslo'") == 13
        shown = compress(source, limits=ResultLimits(inline=100, preview=80), counter=COUNT, request="who is in Oslo")
        assert "content: 40 rows" in shown.text
        assert "city=Oslo: 13 rows" in shown.text


def test_a_text_whose_view_saves_little_or_is_cut_stays_as_it_is() -> None:
    for text in ("a,b\n1,2\n", "one\ntwo\nthree", TEXTS["YAML"] + '- id: "Na', json.dumps(ROWS)[:600] + "\n..."):
        source = json.dumps({"content": text, "rows": [{"a": n, "b": n} for n in range(9)]})
        view = render_text(source, counter=COUNT)
        assert view.restore() == source
        assert "!view" not in view.text


def test_texts_in_rows_share_a_layout_and_come_back() -> None:
    source = json.dumps([{"call": n, "output": TEXTS["CSV"] + f"{n},Ann,Rome\n"} for n in range(5)])
    view = render_text(source, counter=COUNT)
    assert view.restore() == source
    assert view.layout.count("&=") == 4


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda view: (view.text.replace("!view", "!json"), view.layout.replace("&v4", "&x4")), "E1001"),
        (lambda view: (view.text, view.layout.replace("&v4", "&v2")), "E1001"),
        (lambda view: (view.text, view.layout.replace(b":".hex(), b":1".hex())), "E1001"),
        (lambda view: ("content !view [1, 2]", view.layout.rpartition(":")[0] + ":20"), "E1001"),
        (lambda view: (view.text, view.layout.partition("&")[0] + f":{len(view.text)}"), "E1001"),
    ],
)
def test_a_view_in_a_string_that_does_not_fit_its_layout_is_refused(change, code) -> None:  # type: ignore[no-untyped-def]  # lambdas
    view = render_text(wrapped(TEXTS["CSV"])[0], counter=COUNT)
    with pytest.raises(DecodeError) as refused:
        restore(*change(view))
    assert refused.value.code == code


def test_what_a_text_in_a_string_holds_beside_grids_is_no_table() -> None:
    text = f"Settings:\n\n{json.dumps({'rows': 3, 'name': 'x'})}\n\n{TEXTS['CSV']}"
    (table,) = [table for table in tables_of({"content": text}) if len(table.rows) > 1]
    assert (table.name, len(table.rows)) == ("content", 40)


def test_a_view_in_a_string_stands_beside_an_address_that_holds_a_value() -> None:
    names = [f"station-{number * number}-of-the-north" for number in range(12)]
    stations = [{"name": name, "url": f"https://example.org/stations/{name}/data"} for name in names]
    source = json.dumps({"stations": stations, "content": TEXTS["Markdown"]})
    view = render_text(source, counter=COUNT)
    assert view.restore() == source
    assert "${name}" in view.text
    assert "!view" in view.text
