"""Recorded runs of agents, replayed: the tokens that they send, what these cost and what stays readable.

runs = list(read_runs("conversation.json"))
print(replay(runs[0], StrategyName.DEFAULT).calls)
print(Report.of(replay_all(runs, (StrategyName.AS_RECORDED, StrategyName.DEFAULT))).verdict())
"""

from accp_adapters.replay.formats.run_files import find_files, parse_runs, read_runs
from accp_adapters.replay.prompts import AS_RECORDED, SentMessage, Strategy, StrategyName, compact_json_strategy
from accp_adapters.replay.recorded_run import Finding, Findings, RecordedCall, RecordedMessage, Role, Run, UnreadableRun
from accp_adapters.replay.replay import CallFigures, MessageFigures, Replay, replay, replay_all
from accp_adapters.replay.report import Comparison, Report

__all__ = [
    "AS_RECORDED", "CallFigures", "Comparison", "Finding", "Findings", "MessageFigures", "RecordedCall",
    "RecordedMessage", "Replay", "Report", "Role", "Run", "SentMessage", "Strategy", "StrategyName",
    "UnreadableRun", "compact_json_strategy", "find_files", "parse_runs", "read_runs", "replay", "replay_all",
]  # fmt: skip
