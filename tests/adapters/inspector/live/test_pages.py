"""The pages: each tab of real threads, queries, live changes; no text is markup, no secret and no address elsewhere."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from langgraph.checkpoint.sqlite import SqliteSaver
from starlette.testclient import TestClient

import accp_adapters.inspector
from accp_adapters.inspector.live import open_source, open_texts
from accp_adapters.inspector.live.app import _Inspector
from accp_adapters.inspector.live.events import frame_events, run_events
from accp_adapters.inspector.live.frame_record import FrameRecord, record_of_text
from accp_adapters.inspector.live.lanes import arrows_of, lanes_of, overview_of
from accp_adapters.inspector.live.pages import Missing, Pages, Shown
from accp_adapters.inspector.live.threads import EventKind, Observed, Thread, ThreadEvent, identified
from accp_adapters.inspector.live.watched import Watched
from accp_adapters.replay import StrategyName, UnreadableRun
from accp_adapters.stores import RedisColdStore, SqliteColdStore
from accp_core.aci import AgentContext, Goal, KeyInformation, TaskContext, TodoItem
from accp_core.references import key_of, reference_to
from tests.adapters.inspector.live.clients import FixedSource, elements, opened, thread_paths
from tests.adapters.inspector.live.graphs import run_swarm
from tests.adapters.inspector.pages import elements_of, run_full_of
from tests.adapters.inspector.test_report_page import HOSTILE

FOLDER = Path(accp_adapters.inspector.__file__).parent / "live"
SECRET = "sk-live-0123456789abcdef"
TABS = ["", "/prompts", "/prompts?call=0", "/agents", "/references"]


@pytest.fixture(scope="module")
def browser(checkpoints: Path) -> TestClient:
    """Return a client of the inspector of both threads."""
    return opened(str(checkpoints))


@pytest.fixture(scope="module")
def orders(browser: TestClient) -> str:
    """Return the address of the swarm's thread."""
    return thread_paths(browser)["orders"]


def texts_of(client: TestClient, address: str, *names: str) -> list[str]:
    return [element.text for element in elements(client.get(address)) if element.name in names]


def test_the_timeline_has_a_row_for_each_event_and_one_opens_its_text(browser: TestClient, orders: str) -> None:
    page = elements(browser.get(orders))
    rows = [each for each in page if re.fullmatch(r"e\d+", each.attributes.get("id", ""))]
    assert len(rows) == 11
    assert rows[3].text.startswith("4handoffsales → billingtransfer_to_billing")
    (arrows,) = (each for each in page if each.attributes.get("class") == "arrows")
    assert "handoff" in " ".join(texts_of(browser, orders, "ul"))
    detail = texts_of(browser, rows[2].attributes["href"], "pre", "h3")
    assert any(re.fullmatch(r"As recorded, \d\d,\d{3} tokens, its beginning", text) for text in detail)
    assert any(re.fullmatch(r"As sent with the policy “default”, \d{3} tokens", text) for text in detail)
    assert arrows.attributes["aria-hidden"] == "true"


def test_a_prompt_is_shown_part_by_part_as_recorded_and_as_projected(browser: TestClient, orders: str) -> None:
    parts = texts_of(browser, f"{orders}/prompts?call=1", "summary")
    assert [re.sub(r"[\d,]+", "N", " ".join(part.split())) for part in parts] == [
        "tool definitions N → N tokens",
        "user user N tokens",
        "sales calls orders own words N tokens",
        "result of orders results N → N tokens",
    ]
    (whole,) = texts_of(browser, f"{orders}/prompts?call=1&policy=lossless", "strong")
    (tight,) = texts_of(browser, f"{orders}/prompts?call=1&policy=tight", "strong")
    assert int(tight.replace(",", "")) < int(whole.replace(",", ""))


def test_agents_say_what_they_know_may_open_and_were_refused(browser: TestClient, orders: str) -> None:
    team = " ".join(" ".join(texts_of(browser, thread_paths(browser)["churn"] + "/agents", "main")).split())
    assert "The user asks: Why do customers leave?" in team
    assert re.search(r"crm Find who left .* Is to do done Count who left: 13 of 90", team)
    assert re.search(r"mail Write one mail .* Knows Find who left: 13 of 90 basic, 8 of 13 May open", team)
    swarm = " ".join(" ".join(texts_of(browser, f"{orders}/agents", "section")).split())
    assert re.search(r"billing 3 model calls; .* May open \$cold\.\d{29}", swarm)
    assert re.search(
        r"Was refused E5002: expected a reference to a text that this conversation still has, found '\$cold\.0{29}'",
        swarm,
    )


def test_a_reference_is_queried_as_a_model_does(browser: TestClient, orders: str) -> None:
    rows = [row for row in texts_of(browser, f"{orders}/references", "tr") if "$cold" in row]
    assert re.fullmatch(r"\$cold\.\d{29}ordersbilling[\d,]+as long as the thread holds the message", rows[0])
    assert "billing (refused)" in rows[1]
    key = rows[0][1:35]
    address = f"{orders}/references?reference={key}"
    assert browser.get(address).status_code == 200
    (answer,) = texts_of(browser, f"{address}&query=select count(*) as n from rows where open", "pre")
    assert answer.strip().endswith("58")
    refused = texts_of(browser, f"{address}&query=select nothing from nowhere", "pre", "h3")
    assert refused[0] == "Refused" and "E1004" in refused[1]


def test_no_secret_is_on_any_page(browser: TestClient, orders: str) -> None:
    pages = [browser.get(orders + tab).text for tab in TABS]
    pages += [browser.get(f"{orders}?event={number}").text for number in range(11)]
    pages += [browser.get(f"{orders}/prompts?call={number}").text for number in range(5)]
    key = re.findall(r"cold\.\d{29}", browser.get(f"{orders}/references").text)[0]
    for query in (
        "",
        "select api_key from rows where id = 1",
        "api_key",
        SECRET,
        "select substr(api_key, 4) from rows",
    ):
        page = browser.get(f"{orders}/references", params={"reference": key, "query": query})
        pages.append(page.text.replace(f'value="{query}"', "").replace(query, "") if query == SECRET else page.text)
    assert all(SECRET not in page and SECRET[3:] not in page for page in pages)
    assert any("[redacted]" in page for page in pages)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("/threads/nothing", "expected a thread of the source, found 'nothing'"),
        ("{}/nothing", "expected one of timeline, prompts, agents, references, found 'nothing'"),
        ("{}?event=11", "expected an event from 0 to 10, found '11'"),
        ("{}?event=-1", "expected an event from 0 to 10, found '-1'"),
        ("{}?event=²", "expected an event from 0 to 10, found '²'"),
        ("{}?from=99999999999999999999", "expected an event from 0 to 10, found '99999999999999999999'"),
        ("{}/prompts?call=5", "expected a call from 0 to 4, found '5'"),
        ("{}/prompts?run=1", "expected a conversation from 0 to 0, found '1'"),
        ("{}/references?reference=x", "expected a reference of this thread, found 'x'"),
    ],
)
def test_what_is_not_there_is_refused(browser: TestClient, orders: str, address: str, reason: str) -> None:
    response = browser.get(address.format(orders))
    assert (response.status_code, response.text) == (404, reason)


def test_an_empty_source_has_a_page() -> None:
    source = FixedSource(Observed())
    assert texts_of(opened(source), "/", "h1") == ["Nothing yet"]


def full_of(text: str) -> Observed:
    """Return a thread of messages and one of frames that have `text` in every field."""
    run = run_full_of(text)
    words = text.encode("utf-8", "replace").decode()
    context = AgentContext(
        agent_id=words,
        subtask_id=words,
        subtask_name=words,
        context=(f"that {words}",),
        context_uri=(words,),
        todo_items=(TodoItem("1", words),),
        key_information=(KeyInformation("1", words),),
    )
    task = TaskContext(task_id=words, user_query=words, goal_status=(Goal(words, "failed"),))
    frames = [record_of_text(text, session=text, notes=[text])]
    names = dict.fromkeys(("text", "words", "sender", "operation", "msg_id", "correlation", "session"), text)
    frames += [FrameRecord(**names, notes=(text,), refusal=text), FrameRecord(words=text, sender=text, refusal=text)]
    threads = [
        Thread(
            name=text,
            events=tuple(run_events(run, 0)),
            runs=(run,),
            task=task,
            contexts=(context,),
            texts={key_of(text): text},
            stored=frozenset({text}),
            updated=text,
            note=text,
        ),
        Thread(name=text, events=tuple(frame_events(frames)), note=text, updated=text),
    ]
    return Observed(threads=tuple(identified(threads)), left_out=3, findings=(text,))


def every_page(observed: Observed, source: str) -> Iterator[str]:
    pages = Pages(StrategyName.DEFAULT)
    shown = Shown(source=source, observed=observed, version=1, problem=source)
    for thread in observed.threads:
        for tab in ("timeline", "prompts", "agents", "references"):
            yield pages.render(shown, {"thread": thread.id, "tab": tab})
        for number in range(len(thread.events)):
            yield pages.render(shown, {"thread": thread.id, "event": str(number)})
    first = observed.threads[0]
    yield pages.render(shown, {"thread": first.id, "tab": "prompts", "call": "1"})
    wanted = {"thread": first.id, "tab": "references", "query": source}
    yield pages.render(shown, wanted | {"reference": next(iter(first.texts))})


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_of_a_source_is_markup(hostile: str) -> None:
    for live, calm in zip(
        every_page(full_of(hostile), hostile), every_page(full_of("harmless"), "harmless"), strict=True
    ):
        found = [elements_of(page) for page in (live, calm)]
        for element in found[0]:
            assert element.name not in {"iframe", "img", "object", "embed", "base", "style"}
            assert not [name for name in element.attributes if name.startswith("on") or name in ("style", "srcdoc")]
            address = element.attributes.get("href", element.attributes.get("src", "/"))
            assert address.startswith(("/", "#")) and not address.startswith("//"), address
            if element.name == "form":
                assert element.attributes["action"].startswith("/threads/")
        names = [{each.name for each in elements} for elements in found]
        assert names[0] <= names[1] | {"p", "pre", "h3", "dl", "dt", "dd", "div", "a", "small"}
        scripts = [each.attributes for each in found[0] if each.name == "script"]
        assert scripts == [{"src": "/inspector.js", "defer": ""}]


def test_script_and_style_are_ours_and_name_no_address_elsewhere(browser: TestClient) -> None:
    script, style = browser.get("/inspector.js"), browser.get("/inspector.css")
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.text == (FOLDER / "live.js").read_text("utf-8")
    assert len(script.text.splitlines()) < 150
    for text in (script.text, style.text):
        assert not re.search(r"https?:|url\(|@import|innerHTML|eval\(", text)


async def test_the_stream_says_when_there_is_something_new(tmp_path: Path) -> None:
    path = tmp_path / "frames.jsonl"
    path.write_text("@a>req:x{}\n", "utf-8")
    inspector = _Inspector(Watched(open_source(str(path))), Pages(StrategyName.DEFAULT))
    versions = inspector._versions()
    assert await anext(versions) == "data: 1\n\n"
    with path.open("a", encoding="utf-8") as stream:
        stream.write("@b>done:x{}\n")
    assert await anext(versions) == "data: 2\n\n"
    path.unlink()
    assert await anext(versions) == "data: 3\n\n"
    assert "No such file" in inspector._watched.problem
    assert len(inspector._watched.observed.threads[0].events) == 2, "what was read before stays"
    await versions.aclose()
    assert inspector._streams == 0


def test_a_thread_that_a_graph_goes_on_with_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "threads.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        saver.setup()
        source = open_source(str(path))
        assert source.read().threads == ()
        run_swarm(saver, "now")
        assert [len(thread.events) for thread in source.read().threads] == [11]


def test_many_events_are_shown_page_by_page() -> None:
    events = tuple(
        ThreadEvent(
            kind=EventKind.FAILURE if n % 50 == 0 else EventKind.REQUEST,
            sender=f"a{n % 13}",
            recipient="a0",
            title=f"{n}",
        )
        for n in range(1_000)
    )
    (thread,) = identified([Thread(name="many", events=events)])
    shown = Shown(source="x", observed=Observed(threads=(thread,)), version=1, problem="")
    pages = Pages(StrategyName.DEFAULT)
    first, last = (pages.render(shown, {"thread": thread.id, "from": begin}) for begin in ("0", "last"))
    assert "1 to 400 of 1,000" in first and "801 to 1,000 of 1,000" in last
    assert "401 to 800 of 1,000" in pages.render(shown, {"thread": thread.id, "event": "450"})
    with pytest.raises(Missing):
        pages.render(shown, {"thread": thread.id, "from": "1000"})
    lanes = lanes_of(events)
    assert (len(lanes.names), lanes.names[-1]) == (10, "others")
    assert sorted(lanes.column(f"a{n}") or 0 for n in range(13))[-4:] == [9] * 4
    assert lanes.column("") is None
    assert set(arrows_of(events, lanes).lines) == {"failure", "request"}
    assert {"failure"} < set(overview_of(events, lanes, 400).cells)


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_a_store_says_until_when_a_text_can_be_opened(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text, session = json.dumps([{"n": n} for n in range(50)]), f"run-{kind}"
    address = f"sqlite:{tmp_path / 'cold.db'}"
    store: Any
    if kind == "redis":
        address = str(request.getfixturevalue("redis_url"))
        store = RedisColdStore(address, ttl=90)
    else:
        store = SqliteColdStore(tmp_path / "cold.db")
    store.put(session, key_of(text), text)
    store.put("another session", key_of("not ours"), "not ours")
    store.close()
    stored = frozenset({key_of(text), key_of("not ours")})
    threads = identified([Thread(name="t", events=(), stored=stored, sessions=frozenset({session}))])
    source = FixedSource(Observed(threads=tuple(threads)))
    client = opened(source, open_texts(address))
    path = f"/threads/{source.observed.threads[0].id}/references"
    rows = {row[1:35]: row for row in texts_of(client, path, "tr") if "$cold" in row}
    when = "the store deletes it in 1 h 30 min" if kind == "redis" else "the store does not delete it by itself"
    assert when in rows[key_of(text)]
    assert rows[key_of("not ours")].endswith("by the rules of the store"), "a text of another session is not opened"
    (answer,) = texts_of(client, f"{path}?reference={key_of(text)}&query=select max(n) from rows", "pre")
    assert answer.strip().endswith("49")


def test_a_store_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    sqlite3.connect(path).execute("CREATE TABLE other (a)").connection.close()
    with pytest.raises(
        UnreadableRun,
        match="expected the table 'cold' of a SqliteColdStore or 'store' of LangGraph's SqliteStore, found none",
    ):
        open_texts(str(path))
    threads = identified([Thread(name="t", events=(), stored=frozenset({key_of("x")}), sessions=frozenset({"s"}))])
    source = FixedSource(Observed(threads=tuple(threads)))
    client = opened(source, open_texts("redis://127.0.0.1:1"))
    response = client.get(f"/threads/{source.observed.threads[0].id}/references")
    assert response.status_code == 502
    assert response.text.startswith("the store cannot be read: E3001: expected 'redis://127.0.0.1:1' to get")


def test_a_reference_in_a_frame_is_listed() -> None:
    frame = record_of_text(f"@a>req:x{{data:{reference_to(key_of('text'))}}}")
    threads = identified([Thread(name="t", events=tuple(frame_events([frame])))])
    client = opened(FixedSource(Observed(threads=tuple(threads))))
    (path,) = thread_paths(client).values()
    (row,) = (row for row in texts_of(client, f"{path}/references", "tr") if key_of("text") in row)
    assert row.endswith("nobody--not known here")


def test_redis_is_only_read(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as server:
        before = server.dbsize()
        open_texts(redis_url).find(["nobody"], "cold.1")
        open_source(redis_url).read()
        assert server.dbsize() == before
