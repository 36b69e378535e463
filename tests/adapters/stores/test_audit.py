"""The audit log: lines that stay."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from accp_adapters.stores.instructions import AuditLog
from accp_core.aacp.audit import AuditRecord


def record(number: int) -> AuditRecord:
    return AuditRecord(at=number, run="r", packet=f"ACK|HR|return:A|p:2|aacp:1.1|res:naïve {number}")


def test_records_come_back_in_order(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    for number in range(3):
        log.append(record(number))
    assert AuditLog(str(log.path)).read() == ([record(0), record(1), record(2)], [])
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_a_line_that_was_cut_short_takes_no_other_with_it(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.append(record(0))
    with log.path.open("ab") as file:
        file.write(b'{"at":1,"run":"r","pac\xff')
    log.append(record(2))
    records, refused = log.read()
    assert records == [record(0), record(2)]
    assert len(refused) == 1
    assert refused[0].startswith(f"{log.path}:2: expected an audit record")


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: log.append(record(number)), range(100)))
    records, refused = log.read()
    assert sorted(records, key=lambda each: each.at) == [record(number) for number in range(100)]
    assert refused == []
