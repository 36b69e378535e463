"""Any layout restores a source within the limits or is refused at a position in the text."""

from accp_core import DecodeError
from accp_core.packing.expansion import DEFAULT_EXPANSION
from accp_core.view.layout import restore

__all__ = ["check"]


def check(data: bytes) -> None:
    """Check the invariant for one input: the layout is its first line, the view is the rest."""
    layout, _, view = data.decode("utf-8", "surrogateescape").partition("\n")
    try:
        source = restore(view, layout)
    except DecodeError as refusal:
        assert refusal.code in {"E1001", "E2003"}, refusal
        assert 0 <= refusal.position <= len(refusal.text), refusal
    else:
        assert len(source) <= max(len(view), DEFAULT_EXPANSION.of(len(view)))
