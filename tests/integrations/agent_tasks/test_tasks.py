"""Tasks have one right answer each, and every arm can do all of them: shown by a model that knows only its prompt."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from accp_adapters.tokens import o200k_base
from integrations.agent_tasks.arms import ARMS, arm_named, available_arms
from integrations.agent_tasks.catalog import make_tasks
from integrations.agent_tasks.chat.mailbox import Answered, MailboxModel
from integrations.agent_tasks.chat.models import task_model
from integrations.agent_tasks.report import Report
from integrations.agent_tasks.run import TaskOptions, evaluate_tasks
from integrations.agent_tasks.run_file import read_run
from integrations.agent_tasks.scripted.model import ScriptedModel
from integrations.agent_tasks.scripted.prompt import Prompt
from integrations.agent_tasks.world import make_world
from tests.limits import LONG

SMALL = 0.3
TWO = ("late_orders", "voucher")


def options(**fields: Any) -> TaskOptions:
    return TaskOptions(**{"size": SMALL, "arms": ("without", "default"), "names": TWO, **fields})


def run(chosen: TaskOptions, model: Any = None, **fields: Any) -> Report:
    return evaluate_tasks(model or ScriptedModel(chosen.tasks()), options=chosen, **fields)


@pytest.mark.parametrize(("seed", "size"), [(0, 1.0), (0, SMALL), (7, 0.5)])
def test_each_task_has_an_answer(seed: int, size: float) -> None:
    tasks = make_tasks(make_world(seed, size))
    assert len(tasks) >= 24
    assert [task.name for task in tasks if task.answer in ((), "", None)] == []


ONE_OF_EACH_KIND = (
    *("gold_customers", "greatest_order", "gold_orders", "mail_of_greatest", "voucher", "timeouts", "edit_function"),
    *("open_and_failed", "charged_neighbour", "city_of_first"),
)


@pytest.fixture(scope="module")
def in_all_arms() -> Report:
    """Tasks in all arms that are installed, in a small world: one of each kind, with ACCP_LONG=1 all."""
    names = () if LONG else ONE_OF_EACH_KIND
    return run(options(arms=(*available_arms(), "600:500"), names=names))


@pytest.mark.slow
def test_every_arm_can_do_the_tasks(in_all_arms: Report) -> None:
    assert [(line["arm"], line["task"], line["answered"]) for line in in_all_arms.wrong] == []
    assert [arm.arm for arm in in_all_arms.arms] == [*available_arms(), "600:500"]
    assert {len(arms) for arms in in_all_arms.by_task.values()} == {len(available_arms()) + 1}


@pytest.mark.slow
def test_views_and_previews_take_fewer_tokens_than_compact_json(in_all_arms: Report) -> None:
    tokens = {arm.arm: arm.tokens for arm in in_all_arms.arms}
    assert tokens["600:500"] < tokens["default"] < tokens["lossless"] < tokens["compact"] < tokens["without"]
    calls = {arm.arm: arm.calls for arm in in_all_arms.arms}
    assert calls["lossless"] == calls["compact"] == calls["without"] < calls["default"] <= calls["600:500"]
    fetches = {arm.arm: arm.fetches for arm in in_all_arms.arms}
    assert fetches["without"] == fetches["lossless"] == 0 < fetches["default"]


@pytest.mark.slow
def test_rows_that_a_preview_shows_are_not_fetched_and_the_facts_above_them_are(in_all_arms: Report) -> None:
    fetches = {task: arms["600:500"].fetches for task, arms in in_all_arms.by_task.items()}
    assert fetches["voucher"] == 0, "its ticket is shown"
    assert (fetches["greatest_order"], fetches["gold_customers"]) == (1, 1)
    assert fetches["gold_orders"] == 2, "no prompt says that one query may join two results"


class Unexplained(ScriptedModel):
    """Reads prompts without what none of them explains: the facts above the rows of a preview, the counts of a page."""

    def _next(self, prompt: Prompt) -> AIMessage:
        messages = [
            each.model_copy(update={"content": without_facts(each.text)}) if isinstance(each, ToolMessage) else each
            for each in prompt.messages
        ]
        return super()._next(Prompt(messages, prompt.tools))


def without_facts(text: str) -> str:
    opening, _, rest = text.partition("\n")
    table = re.search(r"(?m)^\[\d+\] ", rest)
    if opening.startswith("[preview") and table:
        return f"{opening}\n{rest[table.start() :]}"
    return re.sub(r"… \w+ \d+-\d+ of \d+", "…", text)


@pytest.mark.parametrize("arm", ["default", pytest.param("600:500", marks=pytest.mark.slow)])
def test_all_tasks_can_be_done_with_us_by_what_prompts_explain(arm: str) -> None:
    chosen = options(arms=(arm,), names=())
    seeing, blind = run(chosen), run(chosen, Unexplained(chosen.tasks()))
    assert [(line["task"], line["answered"]) for line in (*seeing.wrong, *blind.wrong)] == []
    assert [(each.calls, each.fetches) for each in blind.arms] == [(each.calls, each.fetches) for each in seeing.arms]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = run(options())
    first = run(options(names=TWO[:1]), run_file=path, model_name="m")
    assert (first.arms[0].tasks, first.missing) == (1, 0)

    class Silent(FakeListChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            raise AssertionError("expected nothing to be asked")

    again = run(options(), run_file=path, model_name="m")
    assert again == whole
    assert run(options(), Silent(responses=[]), run_file=path, model_name="m") == whole
    assert read_run(path)[0] == {"kind": "tasks", "model": "m", "seed": 0, "size": SMALL}
    with pytest.raises(ValueError, match=r"expected a run made with .*, found \{'seed': 0\}"):
        run(options(seed=1), run_file=path, model_name="m")


def test_the_limit_ends_the_run_before_the_next_task() -> None:
    report = run(options(), max_tokens=5_000)
    assert (report.arms[0].tasks, report.missing) == (1, 3)


def test_a_wrong_answer_and_a_missing_edit_are_wrong() -> None:
    class Guessing(ScriptedModel):
        def _next(self, prompt: Any) -> AIMessage:
            return AIMessage("**Answer:** 42")

    chosen = options(names=("returned_orders", "edit_setting"), arms=("without",))
    report = run(chosen, Guessing(chosen.tasks()))
    assert {line["task"]: line["error"] for line in report.wrong} == {
        "returned_orders": "other",
        "edit_setting": "edit",
    }
    assert report.arms[0].right == 0


def test_an_agent_that_comes_to_no_end_is_wrong() -> None:
    class Restless(ScriptedModel):
        def _next(self, prompt: Any) -> AIMessage:
            call = {"name": "list_sources", "args": {}, "id": f"c{len(prompt.messages)}", "type": "tool_call"}
            return AIMessage("", tool_calls=[call])

    chosen = options(names=("returned_orders",), arms=("without",))
    (wrong,) = run(chosen, Restless(chosen.tasks())).wrong
    assert (wrong["answered"], wrong["error"]) == ("", "format")


def test_a_model_without_a_plan_says_so() -> None:
    assert ScriptedModel([]).invoke([HumanMessage("What is the weather?")]).text == "I do not know."


def test_a_mailbox_plays_the_model_with_tool_calls(tmp_path: Path) -> None:
    folder, chosen = tmp_path / "letters", options(names=("late_city",))
    scripted, seen = ScriptedModel(chosen.tasks()), threading.Event()

    def person() -> None:
        answered: set[Path] = set()
        while not seen.is_set():
            for prompt in set(folder.glob("*.prompt.txt")) - answered:
                part = prompt.with_suffix(".new")
                part.write_text(play(json.loads(prompt.read_text(encoding="utf-8"))), encoding="utf-8")
                part.rename(prompt.with_name(prompt.name.replace(".prompt.", ".answer.")))
                answered.add(prompt)

    def play(letter: dict[str, Any]) -> str:
        message = scripted.bind(tools=letter["tools"]).invoke(letter["messages"])
        calls = [{"name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
        return json.dumps({"tool_calls": calls}) if calls else message.text

    thread = threading.Thread(target=person)
    thread.start()
    try:
        model = task_model(f"mailbox:{folder}", tasks=[], counter=o200k_base(), wait=60)
        report = run(chosen, model)
    finally:
        seen.set()
        thread.join()
    assert [(arm.right, arm.calls) for arm in report.arms] == [(1, 2), (1, 3)]


@pytest.mark.parametrize(
    "answer",
    [
        '{"tool_calls": "list_orders"}',
        '{"tool_calls": [{"arguments": {}}]}',
        '{"tool_calls": [{"name": "a", "arguments": 1}]}',
    ],
)
def test_a_letter_with_calls_that_are_none_is_refused(answer: str) -> None:
    model = MailboxModel(ask=lambda prompt: Answered(text=answer, tokens_in=1, tokens_out=1))
    with pytest.raises(ValueError, match="expected tool_calls with a name and arguments each, found "):
        model.invoke("Hello")


def test_a_malformed_letter_is_a_wrong_answer_with_its_file_and_the_run_goes_on(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    bad = Answered(text='{"tool_calls": 7}', tokens_in=1, tokens_out=1, source="letters/a.answer.txt")
    report = run(options(), MailboxModel(ask=lambda prompt: bad), run_file=kept)
    assert [(arm.right, arm.tasks) for arm in report.arms] == [(0, 2), (0, 2)]
    expected = "letters/a.answer.txt: expected tool_calls with a name and arguments each, found '{\"tool_calls\": 7}'"
    assert {line["error"] for line in read_run(kept)[1].values()} == {expected}


def test_words_of_a_letter_are_an_answer() -> None:
    for words in ("Answer: 7", '{"total": 7}', "[1]"):
        model = MailboxModel(ask=lambda prompt, words=words: Answered(text=words, tokens_in=1, tokens_out=1))
        assert model.invoke("Hello").text == words


def test_models_have_the_names_of_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    model = task_model("llama", tasks=[], counter=len, base_url="http://127.0.0.1:9/v1")
    assert model._get_ls_params()["ls_model_name"] == "llama"
    assert isinstance(task_model("scripted", tasks=[], counter=len), ScriptedModel)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"arms": ("toon",)}, r"expected an arm of without, .*, or limits such as 1000:700, found 'toon'"),
        ({"arms": ("10:20",)}, "expected the limit 'preview' to be at least 60, found 20"),
        ({"names": ("weather",)}, r"expected tasks of late_orders, .*, found 'weather'"),
        ({"size": 0.1}, r"expected a size from 0\.2 to 20, found 0\.1"),
    ],
)
def test_options_that_do_nothing_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        options(**fields).tasks()


def test_an_arm_may_be_limits() -> None:
    policy = arm_named("1000:700").policy
    assert policy is not None and (policy.inline_limit, policy.preview_limit) == (1_000, 700)
    assert set(available_arms()) <= set(ARMS)
