"""What of a result too big to show is shown."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import ResultLimits, compress, preview, render_text
from accp_core.previews.marks import Marks
from accp_core.tables import table_of_lines
from accp_core.view import Options
from tests.core.view.payloads import logs, orders, records, webhook

counter = o200k_base()
REF = "$cold.1f2e3d4c"
OPENING = f"accp_fetch {REF}"

PROSE = "\n\n".join(
    f"Paragraph {number}. " + "The committee met again and decided nothing of any note whatever. " * 6
    for number in range(40)
)
SOURCES = {
    "prose": PROSE,
    "one long line": "word " * 3000,
    "one long word": "x" * 20_000,
    "a repr": f"Result(text={PROSE!r})",
    "scripts": "日本語のテキスト。中文文本没有空格。" * 300,
}


def shown(source: str, limit: int, request: str = "", options: Options | None = None) -> str:
    """Return the preview, which must fit."""
    text = preview(source, limit=limit, opening=OPENING, counter=counter, request=request, options=options)
    assert counter(text) <= limit
    return text


def log(lines: int) -> str:
    """Return lines of one kind, and two errors."""
    rows = [
        f"2026-01-01 12:{n % 60:02} INFO worker-{n % 7} handled request {n * 7919:x} in {n % 200} ms"
        for n in range(lines)
    ]
    rows[lines // 3] = "2026-01-01 12:20 ERROR worker-3 gave up: upstream timeout"
    rows[2 * lines // 3] = "2026-01-01 12:40 ERROR worker-5 gave up: connection refused"
    return "\n".join(rows)


@pytest.mark.parametrize("name", SOURCES)
def test_the_preview_of_a_text_uses_its_room(name: str) -> None:
    assert counter(shown(SOURCES[name], 400)) > 160


def test_the_least_limit_that_a_refusal_names_is_enough() -> None:
    with pytest.raises(ValueError, match="at least") as refusal:
        preview(PROSE, limit=1, opening=OPENING, counter=counter)
    least = int(str(refusal.value).split("at least ")[1].split(" ")[0])
    assert REF in shown(PROSE, least)
    with pytest.raises(ValueError, match="at least"):
        preview(PROSE, limit=least - 1, opening=OPENING, counter=counter)


def test_a_result_that_fits_is_shown_whole() -> None:
    source = json.dumps(records(5))
    assert shown(source, 1000) == render_text(source, counter=counter).text
    assert shown("prose", 2) == "prose"


def test_what_the_request_names_is_shown_with_its_columns() -> None:
    source = json.dumps(orders(200))
    text = shown(source, 200, request="What did the customer of ord_7411 buy?")
    assert "\n[1] id customer.name, " in text
    assert "\nord_7411 Gus Holt, Oslo " in text
    assert "ord_7411" not in shown(source, 200)


def test_a_fact_among_prose_is_shown() -> None:
    source = PROSE.replace(
        "Paragraph 21. ", "Paragraph 21. The password reset goes to mara@example.org by 2026-04-01. "
    )
    assert "mara@example.org" in shown(source, 700)


def test_identifiers_outweigh_sentences_and_names() -> None:
    told = "\n".join(
        f"Mr. Smith of Bern met Mrs. Jones of Oslo, the Painter, and told Her of Day {n}" for n in range(99)
    )
    source = told.replace("Day 50", "Day 50\n- server_name: osm-mcp-server\n  tool_name: find_parking\n")
    text = shown(source, 150)
    assert "osm-mcp-server" in text
    assert "find_parking" in text


def test_a_request_that_quotes_everything_leaves_room_for_facts() -> None:
    source = "\n".join(f"the word {word} and no other" for word in PROSE.split()[:90]) + "\nkey_7 holds\n" + PROSE
    assert "key_7" in shown(source, 150, request=PROSE)


def test_a_view_that_the_caller_has_is_not_rendered_again() -> None:
    source = json.dumps([webhook()] * 3 + [{"n": number, "log": logs(3)} for number in range(40)])
    view = render_text(source, counter=counter)
    assert preview(source, limit=200, opening=OPENING, counter=counter, view=view) == shown(source, 200)
    assert preview("not looked at", limit=view.tokens_after, opening=OPENING, counter=counter, view=view) == view.text


@pytest.mark.slow
def test_another_process_shows_the_same() -> None:
    # Lines of equal score: the sum of 1/3, 1/7 and 1/11 depends on the order in which a program adds them.
    program = """
from accp_core import preview
rows = [[f"{letter}_{n:03}" for letter in "abcdefg"] for n in range(100, 160)]
again = [row[place] for row in rows for place in range(7) for _ in range((2, 6, 10, 12, 16, 18, 22)[place])]
source = "\\n".join([*again, *map(" ".join, rows), *again[:9]])
print(preview(source, limit=1500, opening="accp_fetch $cold.1", counter=len))
"""
    shown = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in "123456"
    }
    assert len(shown) == 1


def test_begin_and_end_are_shown() -> None:
    source = "\n".join(f"step {number} was done as it was planned before" for number in range(300))
    lines = shown(source, 200).split("\n")
    assert lines[1].startswith("step 0 ")
    assert lines[-1].startswith("step 299 ")


def test_the_lines_in_a_gap_have_the_numbers_of_a_query() -> None:
    lines = [f"line {number}" + " and more" * (60 if number == 4 else 1) for number in range(300)]
    source = "\n".join(lines)
    text = shown(source, 150)
    rows = {row["n"]: row["text"] for row in table_of_lines(source).rows}
    seen = [line for line in text.split("\n")[1:] if not line.startswith("[…")]
    gaps = [
        re.fullmatch(r"\[…(?:lines? )?(\d+)(?:-(\d+))?\]", line) for line in text.split("\n") if line.startswith("[…")
    ]
    hidden = {number for gap in gaps if gap for number in range(int(gap[1]), int(gap[2] or gap[1]) + 1)}
    assert all(gaps)
    assert gaps
    assert not {rows[number] for number in hidden if number in rows} & set(seen)
    whole = {line for line in seen if "characters]" not in line}
    assert {text for number, text in rows.items() if number not in hidden and len(text) < 400} == whole
    assert all(rows[number] == f"line {number - 1}" + " and more" * (60 if number == 5 else 1) for number in rows)


def test_a_gap_counts_the_lines_of_a_blob_as_a_query_does() -> None:
    blob = base64.b64encode(hashlib.sha512(b"x").digest() * 60).decode()
    source = "\n".join(f"line {number} {blob if number % 9 == 4 else ''}".strip() for number in range(300))
    rows = {row["n"]: row["text"] for row in table_of_lines(source).rows}
    followed = re.findall(r"^\[…(?:lines? )?(?:\d+-)?(\d+)\]\n(line \d+)$", shown(source, 150), re.MULTILINE)
    assert followed
    assert all(rows[int(number) + 1] == line for number, line in followed)


def test_only_the_first_mark_for_lines_says_what_its_numbers_are() -> None:
    lines = [f"the code is X{n * 7919}" if n % 40 == 9 else "and so on and so forth" for n in range(300)]
    text = shown("\n".join(lines), 150)
    first, *others = (line for line in text.split("\n")[1:] if line.startswith("[…") and "-" in line)
    assert re.fullmatch(r"\[…lines \d+-\d+\]", first)
    assert others
    assert all(re.fullmatch(r"\[…\d+-\d+\]", line) for line in others)


def test_the_numbers_of_a_gap_do_not_clash_with_those_of_the_source() -> None:
    code = [f"value_{n} = compute({n * 7919})" if n % 40 == 9 else "    pass" for n in range(300)]
    listed = shown("\n".join(f"{n:6}\t{line}" for n, line in enumerate(code, 200)), 150)
    assert re.search(r"^\[…\d+ lines\]$", listed, re.MULTILINE)
    assert not re.search(r"\[…(?:lines )?\d+-\d+\]", listed)
    whole = shown("\n".join(f"{n:6}\t{line}" for n, line in enumerate(code, 1)), 150)
    gaps = re.findall(r"\[…(?:lines )?\d+-(\d+)\]\n *(\d+)\t", whole)
    assert gaps
    assert all(int(last) + 1 == int(number) for last, number in gaps)


def test_characters_left_out_of_a_line_are_counted() -> None:
    text = shown("word " * 400 + "Mara 4711 " + "word " * 3000, 150, request="Mara")
    assert "Mara 4711" in text
    assert re.search(r" \[…[\d,]+ characters\] ", text)
    assert text.count("[…") >= 2


def test_the_words_of_a_source_are_not_taken_for_a_mark() -> None:
    text = shown("\n".join(f"[…line {number}]" for number in range(900)), 150)
    assert "\n[source text: …line 0]\n" in text
    assert re.findall(r"^\[…lines \d+-\d+\]$", text, re.MULTILINE)


def test_errors_in_a_log_are_shown_whatever_its_length() -> None:
    for lines in (200, 30_000):
        text = shown(log(lines), 250)
        assert f"[preview of {lines:,} lines;" in text
        assert "upstream timeout" in text
        assert "connection refused" in text


def test_a_word_of_the_request_is_found_in_a_long_text() -> None:
    source = log(30_000).replace(f"request {7_001 * 7919:x} in", "request for mara@example.org in")
    assert "mara@example.org" in shown(source, 250, request="what did mara@example.org want?")


def test_what_is_binary_is_sized() -> None:
    blob = base64.b64encode(hashlib.sha512(b"x").digest() * 600).decode()
    digest = hashlib.sha256(b"y").hexdigest()
    ruler = "-" * 300
    path = "/".join(["releases", "server", "linux"] * 9)
    text = shown(f"icon: {blob}\nsha256 {digest}\n{ruler}\n{path}\n" + PROSE, 400)
    assert f"icon: […base64, {len(blob):,} characters]" in text
    assert "sha256 […hex, 64 characters]" in text
    assert blob[:80] not in text
    assert ruler in text
    assert path in text
    rows = json.dumps([{"id": number, "icon": blob} for number in range(50)])
    assert f"[…base64, {len(blob):,} characters]" in shown(rows, 200)


@pytest.mark.parametrize("seed", range(8))
def test_what_looks_like_a_word_by_chance_does_not_make_base64_a_name(seed: int) -> None:
    blob = base64.b64encode(b"".join(hashlib.sha512(b"%d" % (9 * seed + n)).digest() for n in range(9))).decode()
    with_word = f"{blob[:400]}/abcdef/{blob[400:]}"
    assert Marks().size_blobs(with_word).startswith(Marks().gap("")[:-1])


# Tables


def test_a_table_is_described_before_its_rows_are_shown() -> None:
    source = json.dumps(
        {"orders": [{"id": f"o_{n:03}", "total": 15.25 + n, "status": "paid" if n % 2 else "open"} for n in range(110)]}
    )
    described, header, *rows = shown(source, 150).split("\n")[1:]
    assert described.startswith(f"orders: 110 rows, {len(rows)} shown; id: o_000 to o_109; total: 15.25 to 124.25; ")
    assert described.endswith("status: open (55), paid (55)")
    assert header == f"[{len(rows)}] id total status"
    assert {"o_000 15.25 open", "o_109 124.25 paid"} <= set(rows)


def test_the_rare_value_and_its_row_are_shown() -> None:
    rows = [{"n": n, "msg": f"GET /items/{n} took {n % 90} ms" if n % 3 else "cache hit"} for n in range(600)]
    rows[411]["msg"] = "timeout after 411 ms"
    text = shown(json.dumps(rows), 150)
    assert "timeout after # ms (1)" in text
    assert "411 timeout after 411 ms" in text


def test_rows_inside_rows_are_a_table_that_says_how_to_join_it() -> None:
    text = shown(json.dumps(orders(200)), 400)
    assert re.search(r"\norders\.items: \d+ rows, \d+ shown, orders_id = orders\.id; ", text)


def test_a_table_that_fits_is_shown_whole() -> None:
    source = json.dumps({"few": [{"a": 1, "b": "x"}], "many": [{"c": n, "d": f"text {n}"} for n in range(900)]})
    assert "few: 1 row\na 1\nb x\nmany: 900 rows" in shown(source, 200)


def test_a_preview_of_tables_ends_where_a_query_tells_more() -> None:
    rows = json.dumps([{"id": n, "state": "up"} for n in range(9_000)])
    assert counter(shown(rows, 2_000)) < 300


def test_long_texts_in_rows_are_shown_in_part() -> None:
    hits = [{"url": f"https://example.org/{n}", "text": f"{PROSE} The code is K-{n}{n}7."} for n in range(4)]
    text = shown(json.dumps(hits), 400)
    assert all(f"https://example.org/{n}" in text for n in range(4))
    assert all(f"K-{n}{n}7" in text for n in range(4))
    assert "rows: 4 rows\n" in text


def test_of_a_wide_table_the_columns_that_fit_are_named_and_the_others_counted() -> None:
    rows = [{f"field_{column}": number * column for column in range(300)} for number in range(50)]
    text = shown(json.dumps(rows), 150, request="the field_7 of all")
    assert re.search(r"; field_1; .*; field_19; \[…2\d\d columns\]$", text)


@pytest.mark.parametrize("empty", [[], {}])
def test_rows_without_a_cell_are_counted(empty: object) -> None:
    source = json.dumps({"checks": [empty] * 3, "notes": [{"n": n, "text": "as before"} for n in range(60)]})
    assert "checks: 3 rows" in shown(source, 100)


def test_many_tables_are_counted() -> None:
    source = json.dumps({f"t{number}": [{"a": number, "b": text} for text in "xyz" * 20] for number in range(14)})
    assert shown(source, 400).endswith("[…2 tables]")


def test_nothing_that_a_gap_may_hold_is_referred_to() -> None:
    assert "*1" not in shown(json.dumps([webhook()] * 3 + [{"n": number, "log": logs(3)} for number in range(40)]), 300)


def test_options_reach_the_view() -> None:
    source = "The rows:\n" + json.dumps([{"id": n, "body": json.dumps({"a": n, "b": "x y"})} for n in range(100)])
    assert "!json" in shown(source, 150)
    assert "!json" not in shown(source, 150, options=Options(embedded_json=False))


def test_an_empty_text_has_no_preview_where_nothing_fits() -> None:
    with pytest.raises(ValueError, match="expected a limit of at least"):
        preview("", limit=-1, opening=OPENING, counter=counter)


def test_a_table_whose_rows_are_all_shown_says_nothing_twice() -> None:
    found = [{"title": f"Page {n}", "text": f"Sentence {n} of this page. " * 60} for n in range(3)]
    text = shown(json.dumps({"results": found}), 500)
    assert "results: 3 rows\n" in text
    assert "characters" in text  # the long texts have gaps
    assert "results: 40 rows, " in shown(json.dumps({"results": found * 13 + found[:1]}), 500)


LONG_ROWS = [
    {"id": n, "state": "down" if n == 4_321 else "up", "on": [{"port": n}], "pad": "x" * 300} for n in range(6_000)
]


def test_of_a_result_of_megabytes_all_rows_are_counted_and_some_described() -> None:
    text = shown(json.dumps({"hosts": LONG_ROWS, "next": None}), 400, request="Which host is down?")
    assert re.search(r"^hosts: 6,000 rows, [0-9,]+ of them described, [0-9]+ shown; ", text, re.MULTILINE)
    assert re.search(r"^hosts.on: [0-9,]+ of its rows described, [0-9]+ shown, hosts_id = hosts.id", text, re.MULTILINE)
    assert "4321" in text


def test_a_result_of_megabytes_behind_a_byte_order_mark_has_its_rows() -> None:
    source = json.dumps({"hosts": LONG_ROWS})
    assert shown("\ufeff" + source, 400).split("\n")[1:] == shown(source, 400).split("\n")[1:]


def test_a_result_of_megabytes_that_has_no_rows_is_read_whole() -> None:
    long = "A sentence about nothing. " * 30_000
    assert "root: 1 row" in shown(json.dumps({"a": long, "b": long, "c": long}), 400)
    assert shown(long * 3, 400).startswith("[preview of 1 line; ")


@pytest.mark.parametrize("width", [64, 76])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_base64_in_lines_is_one_blob(width: int, end: str) -> None:
    blob = base64.b64encode(b"".join(hashlib.sha512(b"%d" % n).digest() for n in range(100))).decode()
    lines = end.join(blob[at : at + width] for at in range(0, len(blob), width)) + end
    size = f"[…base64, {len(blob):,} characters]"
    mail = f"Subject: the plot{end * 2}{lines}{end}--end\n"
    for source in (json.dumps({"name": "plot", "image/png": lines, "text": "ok"}), json.dumps([lines, "ok"]), mail):
        compressed = compress(source, limits=ResultLimits(), counter=counter)
        assert compressed.text.count("base64, ") == 1
        assert size in compressed.text
        assert compressed.tokens_after < 110
    rows = json.dumps([{"id": number, "icon": f"{number}{end}{lines}"} for number in range(50)])
    assert size in shown(rows, 200)
    many = f"{PROSE}\n{mail}{PROSE}"
    assert size in shown(f"{mail}{PROSE}", 400)
    assert f"line {many.count(chr(10))}" not in shown(many, 100)


def test_lines_that_are_no_blob_are_not_taken_for_one() -> None:
    paths = [f"/home/user/projects/some/long/path/of/many/words/number/{n:09}/index" for n in range(9)]
    digests = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(3)]
    assert Marks().size_blobs("\n".join(paths)) == "\n".join(paths)
    mixed = "\n".join([digests[0], *paths, digests[1]])
    assert Marks().size_blobs(mixed).split("\n")[1:-1] == paths
    pem = (
        "-----BEGIN CERTIFICATE-----\n"
        + "\n".join([f"{digests[0][:63]}A"] * 9 + ["AB12cd=="])
        + "\n-----END CERTIFICATE-----"
    )
    begin, sized, end = Marks().size_blobs(pem).split("\n")
    assert "584 characters]" in sized
    assert (begin, end) == (pem.split("\n")[0], pem.split("\n")[-1])
