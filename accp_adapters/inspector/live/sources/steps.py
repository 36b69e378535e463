"""The steps of a session host's log as records of frames."""

from __future__ import annotations

from accp_adapters.bindings.hosts.steps import SessionStep, StepKind
from accp_adapters.inspector.live.frame_record import FrameRecord, record_of_text
from accp_core.errors import ProtocolError

__all__ = ["record_of_step"]


def record_of_step(text: str) -> FrameRecord:
    """Return the record of one entry of a log."""
    try:
        step = SessionStep.from_text(text)
    except ProtocolError as error:
        return FrameRecord(text=text, operation="no step of a session", refusal=error.reason)
    if step.kind in (StepKind.RECEIVE, StepKind.SEND) and step.text:
        notes = [str(step.kind), *([f"of {step.principal}"] if step.principal else [])]
        return record_of_text(step.text, at=step.now, notes=notes)
    about = [f"worker {step.worker}"] if step.worker else []
    return FrameRecord(operation=f"{step.kind} {step.name}".strip(), at=step.now, notes=(*about,))
