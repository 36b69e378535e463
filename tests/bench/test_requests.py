"""Each answer of the requests and tasks below `requests/` can be read in its documents."""

import json
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any, Final

from accp_core import Compressed
from accp_core.references import StoredText
from tests.bench.answered_requests import is_answered, wrong_statements

HERE: Final = Path(__file__).parent / "requests"
KINDS: Final = {"look-up", "two conditions", "superlative", "absence", "threshold", "count"}


@cache
def text_of(document: str) -> str:
    return (HERE / "documents" / document).read_bytes().decode()


@cache
def items(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((HERE / name).read_bytes())
    return loaded


def test_each_answer_stands_in_its_document() -> None:
    for request in items("requests.json"):
        text = text_of(request["document"])
        counted = request.get("counted", ())
        assert [part for part in counted or request["answer"] if part not in text] == [], request["id"]
        assert not counted or request["answer"] == [str(len(set(counted)))], request["id"]


def test_decoys_are_no_answers() -> None:
    for item in [*items("requests.json"), *items("tasks.json")]:
        assert not set(item.get("decoys", ())) & set(item["answer"]), item["id"]


def test_each_kind_is_asked_often_and_of_many_forms() -> None:
    kinds = Counter(request["kind"] for request in items("requests.json"))
    forms = defaultdict(set)
    for request in items("requests.json"):
        forms[request["kind"]].add(request["form"])
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 25
    assert min(map(len, forms.values())) >= 8


def test_requests_and_ids_are_different() -> None:
    for name in ("requests.json", "tasks.json"):
        assert len({item["id"] for item in items(name)}) == len(items(name))
        assert len({(item.get("document"), item["request"]) for item in items(name)}) == len(items(name))


def test_documents_have_the_size_of_tool_results() -> None:
    for path in (HERE / "documents").iterdir():
        assert 3_000 <= len(text_of(path.name)) <= 40_000, path.name


def test_each_task_takes_two_to_four_calls_and_its_answer_stands_in_their_results() -> None:
    assert len(items("tasks.json")) == 32
    for task in items("tasks.json"):
        results = [text_of(call["document"]) for call in task["calls"]]
        assert 2 <= len(results) <= 4, task["id"]
        # A difference between two counts stands in neither of them.
        stated = [part for part in task["answer"] if len(part) > 1]
        assert [part for part in stated if not any(part in result for result in results)] == [], task["id"]


def shown(text: str, *, is_preview: bool = True) -> Compressed:
    stored = StoredText.of(text) if is_preview else None
    return Compressed(text=f"[preview]\n{text}", layout=None, stored=stored, tokens_before=9, tokens_after=9)


def test_an_answer_is_whole_and_stands_beside_the_words_of_its_request() -> None:
    late = {"kind": "absence", "request": "Which orders have no courier?", "answer": ["O-12345", "O-22345"]}
    assert is_answered(late, shown("[…lines 3-9]", is_preview=False))
    assert not is_answered(late, shown("orders: 90 rows, 2 shown\nO-12345\nO-22345"))
    assert is_answered(late, shown("orders: 90 rows, 2 shown\ncourier is empty: 2 rows, all shown\nO-12345\nO-22345"))
    many = {"kind": "count", "request": "How many are late?", "answer": ["9"], "counted": ["a"]}
    assert is_answered(many, shown("status: paid (12), late (9)"))
    assert not is_answered(many, shown("status: paid (9)\nlate"))


def test_a_wrong_count_is_a_wrong_statement() -> None:
    rows = json.dumps([{"id": number, "by": None if number % 2 else "ann"} for number in range(9)])
    right = "id>3: 5 rows, all shown\nby=ann: 5 rows\nby is empty, id≤3: 2 rows; id: 1 to 3"
    assert wrong_statements(right, rows) == []
    assert wrong_statements(f"{right}\nby=ann, id<2: 3 rows; id: 1", rows) == ["by=ann, id<2: 3 rows;"]
