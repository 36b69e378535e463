"""What a client of MCP sees that was written from the two specifications alone: sections 3.5, 3.7, 6.4, 10.2, 11.3."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.foreign.grammar import read_payload
from tests.foreign.mcp import CASES, EXTENSION, Client, client_of
from tests.foreign.wire import Frame, read_frame

FRAMED = "application/accp"


def frame_in(content: Any) -> Frame:
    """Return the frame that stands as content of its media type."""
    assert content["mimeType"] == FRAMED
    return read_frame(content["text"])


def code_in(holder: Any) -> tuple[Frame, str]:
    """Return the frame in the metadata of a failure, and its code."""
    frame = read_frame(holder[EXTENSION]["frame"])
    body = read_payload(frame.body)
    assert (frame.intent, frame.operation, body["schema"]) == ("fail", "error", "ER")
    return frame, body["code"]


@pytest.mark.requirement("11.3-3")
@pytest.mark.parametrize("modern", [False, True], ids=["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("case", CASES)
def test_each_frame_is_the_next_of_its_session_and_answers_its_request(case: str, modern: bool, tmp_path: Path) -> None:
    with client_of(case, tmp_path, modern=modern) as client:
        frames = [read_frame(client.start()["instructions"].split("\n")[-1])]
        (block,) = client.ask("tools/call", name="find", arguments={})["result"]["content"]
        frames.append(frame_in(block["resource"]))
        (content,) = client.ask("resources/read", uri="parts://all")["result"]["contents"]
        frames.append(frame_in(content))
        frames.append(code_in(client.ask("tools/call", name="fail")["result"]["_meta"])[0])
        frames.append(code_in(client.ask("resources/read", uri="parts://none")["error"]["data"])[0])
        (content,) = client.ask("resources/read", uri="accp://registry")["result"]["contents"]
        frames.append(frame_in(content))
    assert [frame.seq for frame in frames] == list(range(frames[0].seq, frames[0].seq + 6))
    assert len({frame.meta["mid"] for frame in frames}) == 6
    assert all(re.fullmatch("[0-9a-f]{12}", frame.meta["mid"]) for frame in frames)
    assert all(re.fullmatch("[0-9]{10}", frame.meta["ts"]) for frame in frames)
    assert [frame.meta.get("cid") for frame in frames[1:5]] == ["2", "3", "4", "5"]


@pytest.mark.requirement("11.3-1", "11.3-2")
@pytest.mark.parametrize("case", CASES)
def test_results_and_resources_are_frames_of_the_draft(case: str, tmp_path: Path) -> None:
    rows = [{"name": f"part {number}", "price": number + 0.5, "sku": f"A-{number}"} for number in range(20)]
    with client_of(case, tmp_path) as client:
        client.start()
        (block,) = client.ask("tools/call", name="find", arguments={})["result"]["content"]
        (content,) = client.ask("resources/read", uri="parts://all")["result"]["contents"]
        (prose,) = client.ask("resources/read", uri="parts://words")["result"]["contents"]
    result, resource = frame_in(block["resource"]), frame_in(content)
    assert (result.intent, result.operation) == ("done", "tool")
    body = read_payload(result.body)
    assert (body["tool"], body["schema"]) == ("find", "TC") and said(body["res"]["result"]) == rows
    assert (resource.intent, resource.operation, content["uri"]) == ("done", "fetch", "parts://all")
    body = read_payload(resource.body)
    assert body["fmt"] == "application/json" and said(body["d"]) == rows
    assert prose["text"] == "Prose stays as it is: no frame is shorter."


def said(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the quoted form of their strings undone."""
    return [{key: re.sub("^\"|\"$", "", v).replace("_", " ") if isinstance(v, str) else v for key, v in row.items()}
            for row in rows]  # fmt: skip


FAILURES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("lost", {}, "E4001"),
    # The server says so by `isError` and in words, which are not read.
    ("find", {"count": "many"}, "E4002"),
    ("fail", {}, "E4002"),
    ("late", {}, "E3001"),
)


@pytest.mark.parametrize("case", CASES)
def test_a_failed_call_has_its_code(case: str, tmp_path: Path) -> None:
    with client_of(case, tmp_path) as client:
        client.start()
        client.ask("tools/list")
        for name, arguments, code in FAILURES:
            answer = client.ask("tools/call", name=name, arguments=arguments)
            holder = answer["result"]["_meta"] if "result" in answer else answer["error"]["data"]
            assert code_in(holder)[1] == code, name


def test_a_refused_fetch_has_its_code(tmp_path: Path) -> None:
    with client_of(CASES[1], tmp_path, fetches=True) as client:
        client.start()
        answer = client.ask("tools/call", name="accp_fetch", arguments={"ref": "$cold.314159265358"})
    assert answer["result"]["isError"] and code_in(answer["result"]["_meta"])[1] == "E5002"


def exchange(client: Client) -> list[Any]:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("tools/call", {"name": "find"}),
        ("tools/call", {"name": "lost"}),
        ("tools/call", {"name": "fail"}),
        ("resources/read", {"uri": "parts://all"}),
        ("resources/read", {"uri": "parts://none"}),
    ]
    return [client.start(), *(client.ask(method, **params) for method, params in calls)]


@pytest.mark.parametrize("modern", [False, True], ids=["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("case", CASES)
def test_who_negotiated_nothing_notices_nothing(case: str, modern: bool, tmp_path: Path) -> None:
    seen = []
    for each in ("plain", case):
        with client_of(each, tmp_path, negotiates=False, modern=modern) as client:
            seen.append(json.dumps(exchange(client)))
    assert seen[0] == seen[1]
