"""Recorded runs of agents, replayed: the tokens that they send, what these cost and what stays readable.

runs = list(read_runs("conversation.json"))
print(replay(runs[0], StrategyName.DEFAULT).calls)
print(compare(runs, StrategyName.TIGHT).total())
"""

from accp_adapters.replay.errors import UnreadableRun
from accp_adapters.replay.formats.findings import Finding, Findings
from accp_adapters.replay.formats.run_files import find_files, parse_runs, read_runs, runs_of
from accp_adapters.replay.formats.table import format_named
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run
from accp_adapters.replay.replay import CallFigures, MessageFigures, Replay, replay
from accp_adapters.replay.report import Comparison, Report
from accp_adapters.replay.strategies import AS_RECORDED, StrategyName, compact_json_strategy
from accp_adapters.replay.strategy import SentMessage, Strategy
from accp_adapters.replay.workers import compare, replay_all

__all__ = [
    "AS_RECORDED",
    "CallFigures",
    "Comparison",
    "Finding",
    "Findings",
    "MessageFigures",
    "RecordedCall",
    "RecordedMessage",
    "Replay",
    "Report",
    "Role",
    "Run",
    "SentMessage",
    "Strategy",
    "StrategyName",
    "UnreadableRun",
    "compact_json_strategy",
    "compare",
    "find_files",
    "format_named",
    "parse_runs",
    "read_runs",
    "replay",
    "replay_all",
    "runs_of",
]
