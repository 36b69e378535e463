"""The inspector in a real browser: by keyboard, live, dark, narrow, hostile and large, and found good by axe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.inspector.live import inspector_app, open_source
from accp_adapters.inspector.live.sources.source import Source
from accp_adapters.inspector.live.threads import EventKind, Observed, Thread, ThreadEvent, identified
from accp_adapters.serving.listening import http_server, listen_at
from tests.adapters.inspector.browser import found_by_axe
from tests.adapters.inspector.live.clients import TOKEN, FixedSource
from tests.adapters.inspector.live.test_pages import full_of
from tests.adapters.inspector.test_report_page import HOSTILE
from tests.limits import LONG, PATIENCE
from tests.served import in_thread

# The pages are read without a browser beside this.
pytestmark = pytest.mark.slow

ASKED = "@planner>req:lookup{{n:{n}}}[mid:{n:012x},seq:1,ts:1714000000,sid:s-1]\n"


@dataclass
class Window:
    """A window of the browser that has opened the inspector."""

    page: Any
    origin: str
    complaints: list[str] = field(default_factory=list)
    """Messages of the console, errors, and requests to anybody else."""

    def open(self, path: str) -> None:
        """Open a page, and wait until it is told of changes."""
        self.page.goto(self.origin + path)
        self.page.wait_for_selector("#live.on", timeout=PATIENCE * 1_000)


@contextmanager
def served(source: Source) -> Iterator[str]:
    """Serve the inspector in a thread; yield its origin."""
    with listen_at("127.0.0.1", 0) as listening:
        server = http_server(inspector_app(source, token=TOKEN), header_seconds=PATIENCE)
        with in_thread(server, listening) as origin:
            yield origin


@contextmanager
def window(browser: Any, source: Source, **options: Any) -> Iterator[Window]:
    """Open the inspector of a source in a new window."""
    with served(source) as origin:
        context = browser.new_context(**options)
        opened = Window(context.new_page(), origin)
        opened.page.set_default_timeout(PATIENCE * 1_000)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda asked: asked.url.startswith(origin) or opened.complaints.append(asked.url))
        try:
            opened.open(f"/?token={TOKEN}")
            yield opened
        finally:
            context.close()


def test_a_reader_goes_from_events_to_prompts_and_references_without_a_mouse(browser: Any, checkpoints: Path) -> None:
    with window(browser, open_source(str(checkpoints))) as opened:
        page = opened.page
        assert "token" not in page.url
        page.locator("#threads a", has_text="orders").press("Enter")
        page.wait_for_selector("h1:text-is('orders')")
        page.locator(".events a").nth(0).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector("#detail-title:text-is('Event 3: result')")
        assert page.evaluate("document.activeElement.id") == "e2", "the focus stays where it was"
        page.get_by_role("link", name="call 2", exact=True).press("Enter")
        page.wait_for_selector("#prompt")
        page.get_by_role("link", name="tight").press("Enter")
        page.wait_for_selector("text=with the policy “tight”")
        page.get_by_role("link", name="References").press("Enter")
        page.locator(".texts a").first.press("Enter")
        page.locator("#query").fill("select count(*) from rows")
        page.keyboard.press("Enter")
        page.wait_for_selector("pre:has-text('401')")
        page.go_back()
        page.wait_for_selector("#query")
        assert opened.complaints == []


def test_what_is_new_appears_by_itself_and_nothing_is_lost(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.touch()
    with window(browser, open_source(str(path))) as opened:
        page = opened.page
        page.wait_for_selector("h1:text-is('Nothing yet')")
        path.write_text(ASKED.format(n=1), "utf-8")
        page.wait_for_selector(".events a")
        page.locator(".events a").press("Enter")
        page.wait_for_selector("#detail-title:text-is('Event 1: request')")
        with path.open("a", encoding="utf-8") as stream:
            stream.write(ASKED.format(n=2))
        page.wait_for_selector("#e1")
        assert page.locator("#detail-title").inner_text() == "Event 1: request"
        assert page.evaluate("document.activeElement.id") == "e0"
        assert opened.complaints == []


def test_the_names_of_lanes_stay_above_their_rows(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.write_text("".join(ASKED.format(n=n) for n in range(300)), "utf-8")
    with window(browser, open_source(str(path)), viewport={"width": 1280, "height": 800}) as opened:
        page = opened.page
        page.locator(".events a").nth(250).scroll_into_view_if_needed()
        head, row, part = (page.locator(each).bounding_box() for each in (".heads", "#e250", ".flow-scroll"))
        assert part["y"] <= head["y"] <= part["y"] + 2
        assert head["y"] + head["height"] <= row["y"]
        page.goto(page.url.partition("?")[0] + "?event=200")
        page.wait_for_selector("#detail-title")
        chosen, part = (page.locator(each).bounding_box() for each in ("#e200", ".flow-scroll"))
        assert part["y"] < chosen["y"] < part["y"] + part["height"]
        assert opened.complaints == []


def test_a_second_browser_is_refused(browser: Any, checkpoints: Path) -> None:
    with window(browser, open_source(str(checkpoints))) as opened:
        other = browser.new_context()
        assert other.new_page().goto(f"{opened.origin}/?token={TOKEN}").status == 403
        other.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_and_no_page_is_wider_than_the_window(
    browser: Any, checkpoints: Path, scheme: str, width: int
) -> None:
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}, "bypass_csp": True}
    with window(browser, open_source(str(checkpoints)), **options) as opened:
        orders = opened.page.locator("#threads a", has_text="orders").get_attribute("href")
        team = opened.page.locator("#threads a", has_text="churn").get_attribute("href")
        for path in (f"{orders}?event=2", f"{orders}/prompts?call=1", f"{team}/agents", f"{orders}/references"):
            opened.open(path)
            assert found_by_axe(opened.page) == [], path
            inner, outer = opened.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert inner <= outer, path
        opened.page.locator(".texts a").first.click()
        opened.page.wait_for_selector("#query")
        assert found_by_axe(opened.page) == []


def team_of(agents: int, calls: int) -> FixedSource:
    """Return a thread of a team of agents with similar names."""
    names = [f"research-agent-{number}-of-the-team" for number in range(agents)]
    events = [
        ThreadEvent(kind=EventKind.CALL, sender=names[number % agents], title="orders: those that are late")
        for number in range(calls)
    ]
    return FixedSource(Observed(threads=tuple(identified([Thread(name="orders", events=tuple(events))]))))


@pytest.mark.parametrize("agents", [2, 8, 30])
def test_the_words_of_rows_and_the_names_of_lanes_can_be_read_beside_an_event(browser: Any, agents: int) -> None:
    with window(browser, team_of(agents, 90), viewport={"width": 1440, "height": 900}) as opened:
        opened.open(opened.page.locator("#threads a").first.get_attribute("href") + "?event=3")
        part, words = (opened.page.locator(each).bounding_box() for each in (".flow-scroll", "#e3 .what"))
        assert words["width"] >= 150
        assert words["x"] + words["width"] <= part["x"] + part["width"]
        heads = opened.page.locator(".heads span")
        labels = heads.all_inner_texts()
        assert len(set(labels)) == len(labels) == min(agents, 10)
        cut = heads.evaluate_all(
            "all => all.filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight)"
            ".map(one => one.textContent)"
        )
        assert cut == []


def test_hostile_texts_do_nothing_and_a_script_that_got_in_would_not_run(browser: Any) -> None:
    with window(browser, FixedSource(full_of("".join(HOSTILE)))) as opened:
        page = opened.page
        for link in [each.get_attribute("href") for each in page.locator("#threads a").all()]:
            for path in (f"{link}?event=0", f"{link}/prompts?call=0", f"{link}/agents", f"{link}/references"):
                if "prompts" not in path or link == page.locator("#threads a").first.get_attribute("href"):
                    opened.open(path)
        assert opened.complaints == []
        assert page.evaluate("document.scripts.length") == 1
        page.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title=1'}))"
        )
        assert page.title() != "1"
        assert "Content Security Policy" in opened.complaints[0]


@pytest.mark.skipif(not LONG, reason="shows 10,000 frames; ACCP_LONG=1")
def test_many_frames_are_shown(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.write_text("".join(ASKED.format(n=n) for n in range(10_000)), "utf-8")
    with window(browser, open_source(str(path))) as opened:
        opened.page.get_by_role("link", name="Newest").press("Enter")
        opened.page.wait_for_selector("text=9,601 to 10,000 of 10,000")
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        print(f"first paint after {opened.page.evaluate(paint):.0f} ms")
        assert opened.complaints == []
