"""Request chains, and the streams and frames in chunks that arrive, as data (ACCP sections 3.7 and 10.4)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from accp_core.accp.session.exchanges import Exchange, ExchangeState, FrameJoiner, StreamBuffer, data_size
from accp_core.accp.session.snapshots.delivery import PENDING
from accp_core.accp.session.snapshots.shapes import (
    COUNT,
    FLAG,
    FieldShape,
    Reading,
    array,
    attributes,
    choice,
    expect,
    made,
    optional,
    record,
    row,
    table,
)
from accp_core.accp.session.snapshots.values import MESSAGE, TEXT

__all__ = ["CHAINS"]

_EXCHANGE: Final = record(
    Exchange, id=TEXT, state=choice(ExchangeState), request_id=optional(TEXT), parent=optional(TEXT), cancelled=FLAG
)


def _write_exchanges(exchanges: dict[str, Exchange]) -> list[Any]:
    """Return one entry for each exchange: of most only the id, as these were asked and answered."""
    return [name if each == _answered(name) else _EXCHANGE.write(each) for name, each in exchanges.items()]


def _read_exchanges(data: Any, old: Any, reading: Reading) -> Any:
    found = array(FieldShape(_EXCHANGE.write, _read_exchange)).read(data, None, reading)
    by_id = {each.id: each for each in found}
    limit = getattr(old, "limit", reading.options.exchanges)
    expect(len(by_id) == len(found) <= limit, f"at most {limit} exchanges, each once", len(found))
    kept = old.copy()
    kept.update(by_id)
    return kept


def _read_exchange(data: Any, old: Any, reading: Reading) -> Any:
    return _answered(data) if isinstance(data, str) else _EXCHANGE.read(data, old, reading)


def _answered(name: str) -> Exchange:
    return Exchange(id=name, state=ExchangeState.CLOSED, request_id=name)


_EXCHANGES: Final = FieldShape(_write_exchanges, _read_exchanges)


def _check_buffer(buffer: StreamBuffer) -> None:
    buffer._characters = sum(map(data_size, buffer._waiting.values()))


_BUFFER: Final = made(
    lambda reading: StreamBuffer(reading.options.streams),
    attributes(_check_buffer, _waiting=table(COUNT, MESSAGE), _next=COUNT, _total=optional(COUNT)),
)


def _check_joiner(joiner: FrameJoiner) -> None:
    joiner._characters = Counter(
        {
            stream: buffer._characters + sum(map(data_size, chunks))
            for stream, (buffer, chunks) in joiner._streams.items()
        }
    )


CHAINS: Final = attributes(
    exchanges=attributes(
        _live=_EXCHANGES,
        _finished=_EXCHANGES,
        _cancelled=_EXCHANGES,
        _names=table(TEXT, TEXT),
        _forgot_cancelled=FLAG,
    ),
    pending=PENDING,
    joiner=attributes(_check_joiner, _streams=table(row(TEXT, optional(TEXT)), row(_BUFFER, array(MESSAGE)))),
    _streams=attributes(_buffers=table(TEXT, _BUFFER)),
)
