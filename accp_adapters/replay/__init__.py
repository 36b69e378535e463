"""Recorded runs of agents, replayed to count what they send, what it costs and what stays readable."""

from accp_adapters.replay.formats.detection import RunFormat, read_runs
from accp_adapters.replay.recorded_run import Call, Message, Role, Run
from accp_adapters.replay.replay import Replay, replay
from accp_adapters.replay.strategy import AS_RECORDED, Strategy, compact

__all__ = [
    "AS_RECORDED",
    "Call",
    "Message",
    "Replay",
    "Role",
    "Run",
    "RunFormat",
    "Strategy",
    "compact",
    "read_runs",
    "replay",
]
