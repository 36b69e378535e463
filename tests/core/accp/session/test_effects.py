"""What one step of a session leads to."""

from accp_core.accp.session.effects import NO_EFFECTS, Effects
from accp_core.accp.session.events import ExchangeOpened, StreamEnded
from accp_core.references import StoredText


def test_effects_add_up_in_their_order() -> None:
    one = Effects(events=(ExchangeOpened(chain="c"),), frames=("a", "b"), stored=(StoredText.of("x"),))
    other = Effects(events=(StreamEnded(chain="c"),), frames=("c",), stored=(StoredText.of("y"),))
    both = one + other
    assert both.events == (ExchangeOpened(chain="c"), StreamEnded(chain="c"))
    assert both.frames == ("a", "b", "c")
    assert [stored.text for stored in both.stored] == ["x", "y"]
    assert one + NO_EFFECTS == NO_EFFECTS + one == one
