"""The page of a replay in a real browser: by keyboard, without a script, narrow, dark, on paper, hostile and large."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accp_adapters.inspector.report import html_report
from accp_adapters.replay import Report
from tests.adapters.inspector.browser import open_page, violations
from tests.adapters.inspector.pages import page_of, report_full_of, usual_run
from tests.adapters.inspector.test_report_page import HOSTILE, many_runs
from tests.adapters.replay.test_report import replayed
from tests.limits import LONG

# The pages are read without a browser beside this.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of four runs, one of them costlier."""
    pairs = [(replayed(f"r{n}", 2000), replayed(f"r{n}", cost)) for n, cost in enumerate((900, 1900, 2600))]
    report = Report.of(pairs)
    both = html_report([report]), page_of(usual_run())
    folder = tmp_path_factory.mktemp("pages")
    (folder / "one.html").write_text(both[1], encoding="utf-8")
    (folder / "runs.html").write_text(both[0], encoding="utf-8")
    return folder


def test_the_browser_has_nothing_to_complain_about(browser: Any, usual: Path) -> None:
    for name in ("one.html", "runs.html"):
        for options in ({}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 800}}):
            with open_page(browser, usual / name, **options) as opened:
                assert opened.complaints == []
                assert opened.page.title().startswith("Replay: With the policy")
                width = opened.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                assert width[0] <= width[1], "only tables may be wider than the window, and they scroll"


def test_a_dot_opens_its_run_by_click_and_by_keyboard(browser: Any, usual: Path) -> None:
    with open_page(browser, usual / "runs.html") as opened:
        page = opened.page
        assert not page.locator("#run-1").is_visible()
        page.locator(".dots a").nth(0).click()
        assert page.locator("#run-1").is_visible()
        page.locator(".dots a").nth(0).focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#run-2"
        page.keyboard.press("Enter")
        page.wait_for_selector("#run-2", state="visible")
        assert page.evaluate("document.activeElement.id") == "run-2"
        assert opened.complaints == []


def test_the_tab_key_passes_the_dots_in_one_step(browser: Any, usual: Path) -> None:
    with open_page(browser, usual / "runs.html") as opened:
        opened.page.locator(".dots a").nth(0).focus()
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_without_a_script_a_dot_opens_its_run_and_a_marker_what_it_names(browser: Any, usual: Path) -> None:
    with open_page(browser, usual / "runs.html", java_script_enabled=False) as opened:
        opened.page.locator(".dots a").nth(1).click()
        opened.page.wait_for_selector("#run-2", state="visible")
    with open_page(browser, usual / "one.html", java_script_enabled=False) as opened:
        for summary in opened.page.locator("summary").all()[2:]:
            summary.click()
        opened.page.locator("pre a").first.click()
        assert "-named-1" in opened.page.url
        opened.page.wait_for_selector(":target", state="visible")


@pytest.mark.parametrize(("name", "scheme"), [("one.html", "light"), ("runs.html", "dark")])
def test_axe_finds_nothing(browser: Any, usual: Path, name: str, scheme: str) -> None:
    assert violations(browser, usual / name, color_scheme=scheme) == []


def test_the_page_can_be_printed(browser: Any, usual: Path) -> None:
    with open_page(browser, usual / "one.html", color_scheme="dark") as opened:
        assert opened.page.pdf().startswith(b"%PDF")
        opened.page.emulate_media(media="print")
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        # As wide as A4 between its margins.
        opened.page.set_viewport_size({"width": 688, "height": 1000})
        widest = opened.page.evaluate(
            "Math.max(...[...document.querySelectorAll('table')].map(table => table.getBoundingClientRect().right))"
        )
        assert widest <= 688, "on paper nothing scrolls"


def test_hostile_texts_do_nothing(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(html_report([report_full_of("".join(HOSTILE))]), encoding="utf-8")
    with open_page(browser, path) as opened:
        assert opened.complaints == []
        assert opened.page.locator("script").count() == 1


def test_a_script_that_got_in_would_not_run(browser: Any, tmp_path: Path) -> None:
    page = page_of(usual_run()).replace("</main>", "<script>document.title = 'broken into'</script></main>")
    path = tmp_path / "broken.html"
    path.write_text(page, encoding="utf-8")
    with open_page(browser, path) as opened:
        assert opened.page.title().startswith("Replay: ")
        assert any("Content Security Policy" in complaint for complaint in opened.complaints)


@pytest.mark.skipif(not LONG, reason="paints more than 400 runs; ACCP_LONG=1")
def test_many_runs_are_painted(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(html_report([many_runs()]), encoding="utf-8")
    with open_page(browser, path) as opened:
        assert opened.complaints == []
        assert opened.page.locator(".dots a").count() > 400
        # The dots of a full column overlap.
        opened.page.locator(".dots a").nth(0).focus()
        opened.page.keyboard.press("Enter")
        opened.page.wait_for_selector("#run-1", state="visible")
