import json
import re
from dataclasses import replace

from accp_adapters.replay import StrategyName, replay
from accp_adapters.replay.replay import CallFigures, Charge, MessageFigures, Replay
from accp_adapters.replay.report import Report
from tests.adapters.replay.runs import answers, asks, run_of, says, user


def replayed(run: str, *costs: float, source: str = "a.json", sizes: tuple[tuple[int, int], ...] = ()) -> Replay:
    charges = [Charge(int(cost), 0, cost) for cost in costs]
    calls = tuple(CallFigures(agent="clerk", charge=each, needed=2, visible=1, reachable=2) for each in charges)
    messages = tuple(
        MessageFigures(
            position=i, sender="s", tool="t" * (i % 2), recorded=old, sent=new, shown=3, unchanged=old == new
        )
        for i, (old, new) in enumerate(sizes)
    )
    return Replay(run=run, source=source, strategy="test", calls=calls, messages=messages)


def test_a_run_counts_as_costlier_above_one_percent() -> None:
    pairs = [(replayed("r", 1000), replayed("r", 1010)), (replayed("r", 1000), replayed("r", 1011))]
    assert Report.of(pairs).total().costlier_runs == 1


def test_messages_with_more_tokens_than_recorded_are_counted() -> None:
    after = replayed("r1", 5, sizes=((5, 5), (5, 6), (5, 4)))
    assert Report.of(zip([replayed("r1", 5)], [after], strict=True)).total().larger_messages == 1
    same = replayed("r1", 5, sizes=((5, 5), (7, 7)))  # the first is of an agent
    assert Report.of([(same, same)]).kept() == "as recorded because: 1 of t\n"


def test_totals_add_up_calls() -> None:
    total = Report.of(zip([replayed("r1", 10, 20)], [replayed("r1", 5, 6)], strict=True)).total()
    assert (total.before.prompt, total.after.prompt, total.after.cost) == (30, 11, 11.0)
    assert (total.after.needed, total.after.visible, total.after.reachable) == (4, 2, 4)


def test_sources_are_compared_apart() -> None:
    runs = [replayed("r1", 1, source="a"), replayed("r2", 2, source="b"), replayed("r3", 3, source="a")]
    rows = Report.of(zip(runs, runs, strict=True)).by_source()
    assert [(row.name, row.runs, row.before.prompt) for row in rows] == [("a", 2, 4), ("b", 1, 2)]


def test_tools_and_speaking_agents_are_summed_by_name() -> None:
    run = replayed("r1", 1, sizes=((10, 5), (20, 10), (30, 5)))
    rows = {row.name: row for row in Report.of(zip([run], [run], strict=True)).by_tool()}
    assert (rows["agent s"].messages, rows["agent s"].recorded, rows["agent s"].sent) == (2, 40, 10)
    assert (rows["t"].recorded_in_prompts, rows["t"].sent_in_prompts) == (60, 30)


def test_the_verdict_counts_the_queries_for_what_is_hidden() -> None:
    rows = json.dumps([{"id": f"HAT{n}", "n": n * 7919 % 10007} for n in range(3000)])
    run = run_of(user("go"), asks({}, 0), answers(rows, 0), says("take HAT1500", 1))
    before, after = (replay(run, name) for name in (StrategyName.AS_RECORDED, StrategyName.DEFAULT))
    call = after.calls[-1]
    assert call.queries > 0.1 * call.charge.tokens
    assert "Yes: " in (said := Report.of([(before, after)]).verdict())
    assert "1 one query away (if each takes one more call, the cost is 9" in said
    dear = replace(after, calls=(replace(call, queries=before.calls[-1].charge.cost),))
    said = Report.of([(before, dear)]).verdict()
    assert re.match("No: .* costs [0-9]+ % more if each .* one more call \\(9[0-9] % less if none\\) and sends", said)


def test_a_long_log_is_summed_without_keeping_its_runs() -> None:
    report = Report.of(((replayed(f"r{n}", 2000), replayed(f"r{n}", 1000)) for n in range(50)), keep_runs=3)
    assert [run.total.name for run in report.runs] == ["r0", "r1", "r2"]
    assert (report.total().runs, report.total().before.prompt) == (50, 100_000)


def test_names_beyond_the_limit_share_a_row() -> None:
    report = Report(keep_runs=0)
    for number in range(10_003):
        report.add(run := replayed(f"r{number}", 1, source=f"{number}"), run)
    rows = {row.name: row.before.calls for row in report.by_source()}
    assert (len(rows), rows["(others)"]) == (10_001, 3)


def test_the_verdict_names_what_was_too_much_to_query() -> None:
    after = replayed("r1", 5, sizes=((5, 5),))
    after = replace(after, calls=(replace(after.calls[0], needed=9, reachable=1, unasked=3),))
    end = "0 one query away, 5 out of reach of one query, 3 hidden and too many to query."
    said = Report.of([(after, after)]).verdict()
    assert said.endswith(end) and "costs no less and sends no fewer prompt tokens" in said
    after = replace(after, calls=tuple(replace(after.calls[0], needed=0, unanswered=each) for each in (False, True)))
    unknown = "no recorded answer needed a value of a result (1 of 2 answers are not recorded)."
    assert Report.of([(after, after)]).verdict().endswith(unknown)
