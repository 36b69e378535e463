"""The page of a replay: figures, prompts side by side, hidden secrets; and in a real browser, narrow and dark."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.replay import Report, Run, StrategyName, read_runs, replay_all
from accp_adapters.replay.page import MAX_PAGE_RUNS, html_report
from accp_adapters.replay.recorded_run import Finding
from tests.adapters.replay.runs import FLIGHTS, answers, asks, run_of, says, user

EXAMPLE = Path(__file__).parents[3] / "accp_adapters" / "replay" / "recorded_run.json"


def page_of(*runs: Run, **told: Any) -> str:
    report = Report()
    for before, after in replay_all(runs, (StrategyName.AS_RECORDED, StrategyName.DEFAULT), texts=True):
        report.add(before, after)
    return html_report([report], **told)


def run_with(text: str) -> Run:
    return run_of(user("go"), asks({"to": "SEA"}, 0), answers(text, 0), says("HAT083", 1))


def test_a_prompt_is_shown_as_recorded_and_as_sent() -> None:
    page = page_of(run_with(json.dumps(FLIGHTS * 200)))
    assert "search, as recorded" in page and "search, as sent" in page
    assert "{&#34;flight&#34;: &#34;HAT069&#34;" in page
    assert "user, sent as recorded" in page and "<script" not in page


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (json.dumps({"user": "ann", "api_key": "s3cret-7391"}), "s3cret-7391"),
        ("Authorization: Bearer sk-abcdefghijklmnopqrstuvwx", "sk-abcdefghijklmnopqrstuvwx"),
        ("<script>alert(1)</script>", "<script>alert"),
        ("\x1b[31mred\u2028", "\x1b"),
    ],
)
def test_secrets_markup_and_what_nobody_sees_are_not_in_the_page(text: str, hidden: str) -> None:
    assert hidden not in page_of(run_with(text))


@pytest.mark.parametrize("sign", ["\x1b", "\u202e", "\u2028", "\x85", "\ud83d"])
def test_no_name_on_the_page_moves_what_is_beside_it(sign: str) -> None:
    run = replace(run_of(user(f"go{sign}"), asks({f"to{sign}": "SEA"}, 0), answers(sign, 0)), name=f"run{sign}.json")
    tool = replace(run.messages[2], sender=f"search{sign}")
    run = replace(run, messages=(*run.messages[:2], tool))
    finding = Finding(noun="record", detail=f"of {sign}", count=1, path=f"{sign}.json", line=1)
    assert sign not in page_of(run, findings=[finding], made=sign)


def test_a_page_of_many_large_runs_has_a_bound() -> None:
    page = page_of(*(run_with("word " * 40_000) for _ in range(MAX_PAGE_RUNS + 2)))
    assert f"the first {MAX_PAGE_RUNS} of {MAX_PAGE_RUNS + 2} runs" in page
    assert "more characters" in page and len(page) < 1_000_000


@pytest.fixture(scope="module")
def browser() -> Any:
    sync_api = pytest.importorskip("playwright.sync_api")
    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if binary is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        # Tests may run as root in a container, where Chromium has no sandbox. It opens only pages that tests made.
        started = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_a_phone_and_a_desktop_in_light_and_dark(
    browser: Any, width: int, scheme: str, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text(page_of(*read_runs(EXAMPLE)), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: request.url == path.as_uri() or complaints.append(request.url))
    page.goto(path.as_uri())
    assert complaints == []
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "only tables are wider, and they scroll"
    cells = page.locator("td").evaluate_all("cells => cells.map(cell => cell.getClientRects().length)")
    assert set(cells) == {1}, "a number stays on one line with its unit"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
    assert dark == (scheme == "dark")
    first, second = page.locator(".pair").first.locator("> div").all()
    beside = first.bounding_box()["y"] == second.bounding_box()["y"]
    assert beside == (width == 1280), "as recorded and as sent stand side by side where there is room"
    context.close()
