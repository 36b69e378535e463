"""The reports of a replay as one JSON document, each run as a row of its policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.cli.output.run_rows import RunRows
from accp_adapters.replay.report import RunComparison

__all__ = ["json_pieces", "json_rows"]

_NO_RUNS: Final = '"runs": []'
"""Where the rows of a policy belong; no string of the document holds it, because its quotes would be escaped."""
_INDENT: Final = "\n" + 4 * " "
"""The line end and the indentation before a run: the fourth level of the document."""


def json_rows() -> RunRows:
    """Return a place for the runs of reports that keep none."""
    return RunRows(_row, between=f",{_INDENT}")


def json_pieces(document: Mapping[str, Any], rows: RunRows) -> Iterator[str]:
    """Yield the text of `document`, whose `policies` are reports as JSON values; `rows` holds the runs of each."""
    policies = [policy | {"runs": []} for policy in document["policies"]]
    first, *behind = json.dumps({**document, "policies": policies}, indent=1).split(_NO_RUNS)
    yield first
    for policy, text in zip(policies, behind, strict=True):
        yield from _array(rows.of(policy["strategy"]))
        yield text


def _array(pieces: Iterator[str]) -> Iterator[str]:
    first = next(pieces, None)
    if first is None:
        yield _NO_RUNS
        return
    yield f'"runs": [{_INDENT}{first}'
    yield from pieces
    yield f"{_INDENT[:-1]}]"


def _row(run: RunComparison, _: str) -> str:
    return json.dumps(run.to_json(), indent=1).replace("\n", _INDENT)
