"""The page of a replay: true, whole without a script, self-contained, bounded, and no text of a run is markup in it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

import accp_adapters.inspector
from accp_adapters.inspector.page.plain_text import printable, shorten
from accp_adapters.inspector.report import html_report
from accp_adapters.inspector.report.page import MAX_PAGE_BYTES
from accp_adapters.inspector.report.runs import MAX_SHOWN_RUNS, dots_of, run_rows
from accp_adapters.replay import Findings, Report, StrategyName
from accp_adapters.replay.prices import Prices
from tests.adapters.inspector.pages import elements_of, page_of, report_full_of, report_of, run_full_of, usual_run
from tests.adapters.replay.runs import run_of, says, user
from tests.adapters.replay.test_report import replayed

FOLDER = Path(accp_adapters.inspector.__file__).parent
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></title></style><iframe src=//evil.example>",
    "<!--",
    "]]><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
    "&lt;b&gt;&#0;",
    "\x00\x1b]0;title\x07\ud800\ufffe\u202e\x85 <b>",
]


def test_the_page_begins_with_the_verdict_and_has_every_part() -> None:
    page = html_report(
        [report_of(usual_run(), name=name) for name in (StrategyName.LOSSLESS, StrategyName.DEFAULT)],
        prices=Prices(input=3, read=0.3, write=3.75, output=15),
        made="Made on a day",
    )
    elements = elements_of(page)
    (verdict,) = (element.text for element in elements if element.name == "h1")
    assert re.fullmatch(
        r"With the policy “default”: the run is cheaper; \d+ % less money and \d+ % fewer tokens; "
        r"all \d needed values are visible\.",
        verdict,
    )
    assert [element.text for element in elements if element.name == "h2"] == [
        "Policies", "What the prompts hold", "Runs", "The largest messages", "How to read this"
    ]  # fmt: skip
    for expected in ("money, output included", "Made on a day", "lossless", "HAT079", "costlier runs"):
        assert expected in page


def test_figures_are_those_of_the_report() -> None:
    report = report_of(usual_run("one"), usual_run("two"))
    total = report.total()
    texts = [element.text for element in elements_of(html_report([report])) if element.name in ("td", "b", "span")]
    for figure in (f"{total.before.prompt:,}", f"{total.after.prompt:,}", f"{total.after.cost:,.0f}"):
        assert figure in texts
    assert f"{total.before.prompt:,} → {total.after.prompt:,}" in texts


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["1000"] * 2, ["1000", "1200"], "0 of 2 runs are cheaper, 1 costlier; 10 % more cost"),
        (["1000"] * 2, ["500", "1000"], "1 of 2 runs are cheaper, none is costlier; 25 % less cost"),
        (["1000"], ["1000"], "the run costs the same; as much cost as before and as many tokens as before"),
        (["1000"], ["2000"], "the run is costlier; 100 % more cost and 100 % more tokens"),
    ],
)
def test_the_verdict_says_what_got_worse(before: list[str], after: list[str], expected: str) -> None:
    pairs = zip(
        (replayed("r", int(cost)) for cost in before), (replayed("r", int(cost)) for cost in after), strict=True
    )
    assert expected in html_report([Report.of(pairs)])


def test_values_that_are_not_visible_are_told_apart_from_lost_ones() -> None:
    one = replayed("r", 1000)
    assert "1 of 2 needed values is one query away." in html_report([Report.of([(one, one)])])
    calls = tuple(replace(call, needed=9, visible=1, reachable=5) for call in one.calls)
    lost = replace(one, calls=calls)
    assert "4 of 9 needed values are one query away, 4 out of reach." in html_report([Report.of([(one, lost)])])
    none = replace(one, calls=tuple(replace(call, needed=0, visible=0, reachable=0) for call in one.calls))
    assert "no call needed a value of a result" in html_report([Report.of([(none, none)])])


def test_what_was_not_understood_stands_at_the_top() -> None:
    findings = Findings()
    for number in range(30):
        findings.move_to("runs.jsonl", 7)
        findings.add("block", f"of type <{number}>")
    page = page_of(usual_run(), findings=findings.not_understood())
    assert "1 block of type &lt;0&gt; (runs.jsonl:7)" in page
    assert "and 10 other kinds" in page


def test_each_run_has_a_dot_that_leads_to_it_and_a_costlier_one_is_told_in_words() -> None:
    pairs = [(replayed(f"r{n}", 1000), replayed(f"r{n}", cost)) for n, cost in enumerate((700, 1000, 1500, 4000))]
    elements = elements_of(html_report([Report.of(pairs)]))
    dots = [element for element in elements if element.attributes.get("aria-label", "").startswith("r")]
    links = {element.attributes["aria-label"]: element.attributes["href"] for element in dots if element.name == "a"}
    assert list(links) == ["r3: 400.0 %, costlier", "r2: 150.0 %, costlier", "r1: 100.0 %, same", "r0: 70.0 %, cheaper"]
    ids = [element.attributes["id"] for element in elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links.values()} <= set(ids)
    # A link to an element within closed details opens them; one to the details themselves would not.
    assert all(element.name != "details" for element in elements if "id" in element.attributes)


def test_a_repeat_marker_is_a_link_to_what_it_names() -> None:
    elements = elements_of(page_of(usual_run()))
    (marker,) = (element for element in elements if element.text.startswith("[as above: ") and element.name == "a")
    (named,) = (element for element in elements if element.attributes.get("id") == marker.attributes["href"][1:])
    assert "flight 0 to Seattle leaves at gate 0" in named.text
    assert "message 5" in named.text


def test_without_texts_no_word_of_a_message_is_in_the_page() -> None:
    page = html_report([report_of(usual_run(), texts=False)])
    assert "HAT0" not in page
    assert "The largest messages" not in page


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_of_a_run_is_markup(hostile: str) -> None:
    findings = Findings()
    findings.add(hostile, hostile)
    live, calm = (
        elements_of(html_report([report_full_of(text)] * 2, findings=findings.not_understood(), made=text))
        for text in (hostile, "harmless")
    )
    live, calm = ([(each.name, sorted(each.attributes)) for each in elements] for elements in (live, calm))
    assert live == calm
    assert len(live) > 100


def test_any_text_is_in_the_page_as_it_is() -> None:
    text = "\n  <b>&amp;</b> 'ü' \U0001f469\u200d\U0001f4bb\n"
    elements = elements_of(page_of(run_full_of(text)))
    shown = [each.text for each in elements if each.attributes.get("aria-label", "").endswith("as recorded")]
    assert text in shown


def test_the_page_loads_nothing_and_runs_only_our_script() -> None:
    elements = elements_of(page_of(usual_run(), run_full_of("https://evil.example/x.js")))
    for element in elements:
        assert element.name not in {"link", "img", "iframe", "object", "embed", "form", "base", "image", "use"}
        assert not [name for name in element.attributes if name.startswith("on") or name in ("style", "src", "action")]
        assert element.attributes.get("href", "#").startswith("#")
    (script,) = (element.text for element in elements if element.name == "script")
    (style,) = (element.text for element in elements if element.name == "style")
    assert script == (FOLDER / "report" / "report.js").read_text("utf-8")
    assert not re.search(r"url\(|@import|//", re.sub(r"/\*.*?\*/", "", style))
    metas = {element.attributes.get("http-equiv"): element.attributes for element in elements if element.name == "meta"}
    policy = metas["Content-Security-Policy"]["content"]
    assert policy == (
        f"default-src 'none'; script-src '{hash_of(script)}'; style-src '{hash_of(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def hash_of(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def many_runs() -> Report:
    """Return the report of 500 runs with 20,000 calls, and the largest texts that there can be."""
    report = report_of(run_full_of('"' * 12_000))
    # One template for all: only the names and costs differ.
    before = replayed("r", *[2000.0] * 40)
    for number in range(500):
        after = replace(replayed("r", 1000.0 + number * 3), calls=replayed("r", 1000.0 + number * 3).calls * 40)
        name = f"{number} " + '"' * 200
        report.add(replace(before, run=name), replace(after, run=name))
    return report


def test_many_runs_and_long_texts_give_a_page_of_bounded_size_that_says_what_it_left_out() -> None:
    report = many_runs()
    page = html_report([report], made="x")
    assert len(page.encode()) < MAX_PAGE_BYTES
    assert MAX_SHOWN_RUNS < page.count("<details") <= MAX_SHOWN_RUNS + 10 + 10
    assert "501 runs were replayed, and all of them count in the sums." in page
    assert "more calls are not shown; all of them count." in page
    assert "the first 8,000 of 12,000 characters" in page
    costliest = report.costliest[0].total.name.split()[0]
    assert f"<summary>{costliest} &#34;" in page


def test_dots_that_would_lie_on_each_other_are_stacked_within_a_bound() -> None:
    pairs = [(replayed(f"r{n}", 1000), replayed(f"r{n}", 900)) for n in range(MAX_SHOWN_RUNS)]
    dots = dots_of(run_rows(Report.of(pairs)))
    assert len({(dot.x, dot.y) for dot in dots.dots}) > 300
    assert dots.height < 400
    assert {round(dot.x) for dot in dots.dots} == {round(dots.dots[0].x)}


def test_a_run_without_a_price_costs_the_same() -> None:
    (row,) = run_rows(Report.of([(replayed("r", 0), replayed("r", 0))]))
    assert (row.percent, row.mood) == (100.0, "same")


def test_characters_that_mislead_are_shown() -> None:
    assert printable("a\x1b[31m\r\n\tb\x7f\u202e\ud800\x9b") == "a␛[31m␍\n\tb␡\ufffd\ufffd\ufffd"
    assert shorten("a\n b" * 50, 10) == "a ba ba b…"
    assert shorten("short", 10) == "short"


def test_a_run_of_one_call_without_results_has_a_page() -> None:
    page = page_of(run_of(user("hello"), says("hi", 0)))
    assert "no call needed a value of a result" in page
    assert "The largest messages" not in page
