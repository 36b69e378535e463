"""Debug mode: one log record for each frame, in words, without secrets (ACCP section 9, item 1).

"Compact formats are harder for humans to audit. Implementations SHOULD provide a "debug mode" that logs decoded
human-readable equivalents." Whoever moves frames calls an `Observer` with a `FrameSeen` for each, if it was given
one; without one nothing is built and nothing is paid. `FrameLog` is the observer that logs, under the name `accp`
of the standard library's logging:

    session = Session(..., observe=FrameLog())
    logging.getLogger("accp").setLevel(logging.DEBUG)
"""

from accp_core.accp.debug.description import LeftOut, describe, left_out
from accp_core.accp.debug.frame_log import LOGGER, FrameLog, to_event
from accp_core.accp.debug.frame_seen import Direction, FrameSeen, Observer
from accp_core.accp.debug.redaction import DEFAULT_REDACTION, Redaction

__all__ = [
    "DEFAULT_REDACTION",
    "LOGGER",
    "Direction",
    "FrameLog",
    "FrameSeen",
    "LeftOut",
    "Observer",
    "Redaction",
    "describe",
    "left_out",
    "to_event",
]
