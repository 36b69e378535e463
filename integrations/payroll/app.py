"""A payroll in six hops: a LangGraph graph whose agents exchange AACP packets, without any model."""

from __future__ import annotations

import argparse
import operator
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from payroll import parse_rows
from workplace import AGENTS, Workplace, agent_of

from accp_adapters.stores.instructions import AuditLog
from accp_core.aacp import Packet, PayrollEncoder, explain, validate
from accp_core.aacp.audit import AuditRecord, ReplayedRecord, digest_of, replay_records
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

HERE: Final = Path(__file__).resolve().parent
ENCODER: Final = PayrollEncoder()


class Run(TypedDict):
    """The state of a run; the data is in the results, never in packets."""

    period: str
    previous: str
    packet: str
    """The packet to perform next."""
    done: Annotated[list[str], operator.add]
    """The packets that were performed, in order."""
    results: Annotated[dict[str, str], operator.or_]


def status(run: Run) -> str:
    """Return "review_required" where a pay slip has a flag, else "ok"."""
    flagged = any(slip["flag"] for slip in parse_rows(run["results"]["payroll"]))
    return "review_required" if flagged else "ok"


HOPS: Final[tuple[Callable[[Run], Packet], ...]] = (
    lambda run: ENCODER.fetch_employees(run["period"]),
    lambda run: ENCODER.fetch_budgets(run["period"]),
    lambda run: ENCODER.merge_and_calculate(run["period"]),
    lambda run: ENCODER.generate_report(run["period"], run["previous"], ["csv"]),
    lambda run: ENCODER.log_run(run["period"], status=status(run), chain=list(AGENTS.values())),
    lambda run: ENCODER.send_report(run["period"], flag_msg=status(run), attachment="csv"),
)


def orchestrate(run: Run) -> Command[str]:
    """Send the next packet to its agent, until all hops are done."""
    if len(run["done"]) == len(HOPS):
        return Command(goto=END)
    packet = validate(HOPS[len(run["done"])](run)).check()
    return Command(goto=agent_of(packet), update={"packet": str(packet)})


def build(place: Workplace, log: AuditLog, now: Callable[[], float] = time.time) -> StateGraph[Run]:
    """Return the graph: the orchestrator and its six agents."""

    def act(run: Run) -> Command[str]:
        packet = validate(run["packet"]).check()
        name, text = place.perform(packet, run["results"])
        log.append(AuditRecord(at=int(now()), run=run["period"], packet=run["packet"], result=digest_of(text)))
        return Command(goto="ORCH", update={"done": [run["packet"]], "results": {name: text}})

    graph = StateGraph(Run)
    graph.add_node("ORCH", orchestrate, destinations=(*AGENTS.values(), END))
    for agent in AGENTS.values():
        graph.add_node(agent, act, destinations=("ORCH",))
    graph.add_edge(START, "ORCH")
    return graph


def run_payroll(place: Workplace, log: AuditLog, period: str, previous: str = "") -> Run:
    """Do one run and return its state.

    Raises:
        ProtocolError: a hop fails; every hop before it is in the log.
    """
    start = Run(period=period, previous=previous, packet="", done=[], results={})
    return cast("Run", build(place, log).compile().invoke(start))


def replay_log(place: Workplace, log: AuditLog) -> list[ReplayedRecord]:
    """Perform the packets of a log again, in order."""
    results: dict[str, str] = {}

    def perform(packet: Packet) -> str:
        name, results[name] = place.perform(packet, results)
        return results[name]

    records, refused = log.read()
    if refused:
        raise ProtocolError("; ".join(refused), code=ErrorCode.PARSE_ERROR)
    return list(replay_records(records, perform))


def main(arguments: list[str] | None = None) -> int:
    """Run or replay from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--period", default="2024-08")
    parser.add_argument("--previous", default="", help="the month to compare with, such as 2024-07")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--out", type=Path, default=Path("payroll-out"))
    parser.add_argument("--replay", action="store_true", help="perform the packets of the audit log again")
    options = parser.parse_args(arguments)
    place, log = Workplace(options.data, options.out), AuditLog(options.out / "audit.jsonl")
    try:
        return show_replay(place, log) if options.replay else show_run(place, log, options.period, options.previous)
    except (ProtocolError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def show_run(place: Workplace, log: AuditLog, period: str, previous: str) -> int:
    """Do a run, and print its packets and its report."""
    place.out.mkdir(parents=True, exist_ok=True)
    run = run_payroll(place, log, period, previous)
    for text in run["done"]:
        print(f"{text}\n    {explain(validate(text).check())}")
    print(f"\n{run['results']['report']}\n{status(run)}; documents and audit.jsonl are in {place.out}")
    return 0


def show_replay(place: Workplace, log: AuditLog) -> int:
    """Replay a log, and print which results differ; return 1 if one does."""
    replayed = replay_log(place, log)
    for record in replayed:
        print(f"{'same ' if record.same else 'OTHER'} {record.record.packet} {record.reason}".rstrip())
    return 0 if all(record.same for record in replayed) else 1


if __name__ == "__main__":
    sys.exit(main())
