"""Debug mode: one log record for each frame, in words and without secrets (ACCP section 9, item 1).

"Compact formats are harder for humans to audit. Implementations SHOULD provide a "debug mode" that logs decoded
human-readable equivalents." A session calls its `Observer`, if it has one, with a `FrameSeen` for each frame; without
one, debug mode costs nothing. `DebugLog` is the observer that logs, to the logger `accp` of the standard library:

    session = Session(..., observe=DebugLog())
    logging.getLogger("accp").setLevel(logging.DEBUG)
"""

from accp_core.accp.debug.debug_log import LOGGER, DebugLog, to_event
from accp_core.accp.debug.description import describe
from accp_core.accp.debug.frame_seen import Direction, FrameSeen, Observer
from accp_core.accp.debug.redaction import DEFAULT_REDACTION, Redaction

__all__ = [
    "DEFAULT_REDACTION",
    "LOGGER",
    "DebugLog",
    "Direction",
    "FrameSeen",
    "Observer",
    "Redaction",
    "describe",
    "to_event",
]
