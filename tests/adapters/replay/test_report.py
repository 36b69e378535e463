from accp_adapters.replay.cache_pricing import Charge
from accp_adapters.replay.replay import CallFigures, MessageFigures, Replay
from accp_adapters.replay.report import Report


def replayed(
    run: str,
    *costs: float,
    source: str = "a.json",
    sizes: tuple[tuple[int, int], ...] = (),
    agent: str = "clerk",
) -> Replay:
    calls = tuple(
        CallFigures(
            agent=agent,
            charge=Charge(int(cost), 0, cost),
            with_fetches=(Charge(int(cost), 0, cost), Charge(1, 0, 1.0)),
            needed=2,
            visible=1,
            reachable=2,
        )
        for cost in costs
    )
    messages = tuple(
        MessageFigures(position=i, sender="s", tool="t" * (i % 2), recorded=old, sent=new, shown=3, preview="")
        for i, (old, new) in enumerate(sizes)
    )
    return Replay(run=run, source=source, strategy="test", calls=calls, messages=messages)


def test_a_run_counts_as_costlier_above_one_percent() -> None:
    before = [replayed("r1", 1000), replayed("r2", 1000)]
    after = [replayed("r1", 1010), replayed("r2", 1011)]
    assert Report(before, after).total().costlier_runs == 1


def test_messages_with_more_tokens_than_recorded_are_counted() -> None:
    after = replayed("r1", 5, sizes=((5, 5), (5, 6), (5, 4)))
    assert Report([replayed("r1", 5)], [after]).total().larger_messages == 1


def test_totals_add_up_calls_and_fetches() -> None:
    total = Report([replayed("r1", 10, 20)], [replayed("r1", 5, 6)]).total()
    assert (total.before.prompt, total.after.prompt, total.after.cost) == (30, 11, 11.0)
    assert (total.after.fetch_prompt, total.after.fetch_cost) == (13, 13.0)
    assert (total.after.needed, total.after.visible, total.after.reachable) == (4, 2, 4)


def test_sources_are_compared_apart() -> None:
    runs = [replayed("r1", 1, source="a"), replayed("r2", 2, source="b"), replayed("r3", 3, source="a")]
    assert [(row.name, row.runs, row.before.prompt) for row in Report(runs, runs).by_source()] == [
        ("a", 2, 4),
        ("b", 1, 2),
    ]


def test_agents_come_largest_first() -> None:
    runs = [replayed("r1", 1, agent="small"), replayed("r2", 2, agent="large")]
    assert [agent for agent, _, _ in Report(runs, runs).by_agent()] == ["large", "small"]


def test_tools_and_speaking_agents_are_summed_by_name() -> None:
    run = replayed("r1", 1, sizes=((10, 5), (20, 10), (30, 5)))
    rows = {row.name: row for row in Report([run], [run]).by_tool()}
    assert (rows["agent s"].messages, rows["agent s"].recorded, rows["agent s"].sent) == (2, 40, 10)
    assert (rows["t"].recorded_in_prompts, rows["t"].sent_in_prompts) == (60, 30)


def test_the_ten_largest_messages_are_found_before_and_after() -> None:
    run = replayed("r1", 1, sizes=tuple((size, 100 - size) for size in range(20)))
    report = Report([run], [run])
    assert [one.message.recorded for one in report.largest_recorded()] == list(range(19, 9, -1))
    assert [one.message.sent for one in report.largest_sent()] == list(range(100, 90, -1))


def test_the_report_of_nothing_is_a_report() -> None:
    assert Report([], []).to_json()["total"]["runs"] == 0
