"""The table of a request, and the chains that are remembered."""

import pytest

from accp_core.accp.frame import Intent
from accp_core.accp.session.exchanges import FINISHED, Exchange, ExchangeMove, Exchanges, ExchangeState
from accp_core.errors import ProtocolError

MOVES: list[Intent | ExchangeMove] = [*Intent, *ExchangeMove]


def asked(chain: str, **fields: str) -> Exchange:
    return Exchange(id=chain, **fields).moved(Intent.REQUEST)  # type: ignore[arg-type]


ANSWERED = {
    "wait": "waiting", "esc": "open", "stream": "streaming", "final": "streamed",
    "done": "closed", "fail": "closed", "cancel": "closed",
}  # fmt: skip
REQUESTED = {"req": "open", "qry": "open"}
CLOSING = {"done": "closed", "fail": "closed", "cancel": "closed"}
TABLE = {
    "idle": {**REQUESTED, **ANSWERED, "end": "streamed"},
    "open": {**REQUESTED, **ANSWERED},
    "waiting": {**REQUESTED, **ANSWERED},
    "streaming": {**CLOSING, "stream": "streaming", "final": "streamed", "end": "streamed"},
    "streamed": {**REQUESTED, **CLOSING, "end": "streamed"},
    "closed": {**REQUESTED, "cancel": "closed"},
}
"""State and move to the next state."""


def moved(state: str, move: Intent | ExchangeMove) -> str:
    exchange = Exchange(id="c", state=ExchangeState(state))
    try:
        return exchange.moved(move).state.value
    except ProtocolError as refused:
        assert refused.code == "E1002"
        return "refused"
    finally:
        assert exchange == Exchange(id="c", state=ExchangeState(state))


def test_an_exchange_moves_as_the_table_says_or_is_refused() -> None:
    expected = {(state, move): TABLE[state].get(move, "refused") for state in TABLE for move in MOVES}
    assert {(state, move): moved(state, move) for state in ExchangeState for move in MOVES} == expected


@pytest.mark.parametrize(
    ("moves", "state"),
    [
        (["req", "wait", "wait", "done"], "closed"),
        (["qry", "esc", "fail"], "closed"),
        (["req", "stream", "stream", "final"], "streamed"),
        (["req", "stream", "end"], "streamed"),
        (["req", "stream", "final", "end", "done"], "closed"),
        (["req", "stream", "cancel"], "closed"),
        (["req", "fail", "req"], "open"),
        (["stream", "final"], "streamed"),
    ],
)
def test_a_request_goes_through_these_states(moves: list[str], state: str) -> None:
    exchange = Exchange(id="c")
    for move in moves:
        exchange = exchange.moved(ExchangeMove(move) if move == "final" else Intent(move))
    assert exchange.state == state
    assert exchange.is_live is False or state == "open"


def test_an_unknown_chain_is_idle_and_a_known_one_is_found_by_the_id_of_its_request() -> None:
    known = Exchanges(4)
    assert known.get("c").state is ExchangeState.IDLE
    known.put(asked("c", request_id="m1"))
    assert known.find("m1") == "c"
    assert known.find("c") == "c"
    assert known.find("m2") == "m2"
    assert known.get(known.find("m1")).is_live


def test_more_open_requests_than_the_limit_are_refused_with_e2003_and_known_ones_go_on() -> None:
    known = Exchanges(2)
    for chain in "ab":
        known.put(asked(chain))
    with pytest.raises(ProtocolError, match="E2003"):
        known.put(asked("c"))
    assert known.get("c").state is ExchangeState.IDLE
    known.put(known.get("a").moved(Intent.WAITING))
    known.put(known.get("b").moved(Intent.COMPLETE))
    known.put(asked("c"))
    with pytest.raises(ProtocolError, match="E2003"):
        known.put(known.get("b").moved(Intent.REQUEST))
    assert known.get("b").state is ExchangeState.CLOSED


def test_the_oldest_finished_chain_is_forgotten_first() -> None:
    known = Exchanges(2)
    for chain in "abc":
        known.put(asked(chain).moved(Intent.COMPLETE))
    assert [known.get(chain).state in FINISHED for chain in "abc"] == [False, True, True]


@pytest.mark.requirement("3.7-6")
def test_a_cancel_stops_all_that_the_chain_caused_in_any_order() -> None:
    known = Exchanges(9)
    known.put(asked("grandchild", parent="child"))
    known.put(asked("child", parent="root").moved(Intent.COMPLETE))
    known.put(asked("loop", parent="loop"))
    known.put(asked("root"))
    assert known.cancel("root") == ["root", "grandchild"]
    assert known.is_stopped("root", Intent.COMPLETE)
    assert known.is_stopped("grandchild", Intent.REQUEST)
    assert not known.is_stopped("loop", Intent.COMPLETE)
    assert known.cancel("unknown") == ["unknown"]
    assert known.is_stopped("unknown", Intent.STREAM)


@pytest.mark.requirement("3.7-6")
def test_nothing_of_a_cancelled_chain_passes_even_when_the_chain_is_forgotten() -> None:
    known = Exchanges(2)
    for number in range(4):
        known.cancel(f"c{number}")
    assert known.get("c0").state is ExchangeState.IDLE
    assert known.is_stopped("c0", Intent.COMPLETE)
    assert known.is_stopped("never seen", Intent.STREAM)
    assert not known.is_stopped("never seen", Intent.REQUEST)
    assert not known.is_stopped("never seen", Intent.PING)
    known.put(asked("new"))
    assert not known.is_stopped("new", Intent.COMPLETE)
