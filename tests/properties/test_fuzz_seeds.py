"""The invariants of the fuzzers over the inputs they start from; `make fuzz` looks further."""

import importlib

import pytest

from tests.harness.fuzz.corpus import SEEDS, first_inputs

FOUND = {
    "frame": ["@a>req:op{k:" + "9" * 400 + ".1234567}", "@a>req:op{k:=1e400}", "@a>req:op{k:[[[[[$warm.1]]]]]}"],
    "view": ["1e400", '{"a": "\udcc1"}'],
    "registry": [],
    "packet": [],
    "envelope": ['{"type":"acp.message","role":"user","parts":[{"type":"text","content":"\\ud800\udcff"}]}'],
    "session": ["@b>req:op{k:1}[mid:m1,seq:1]\n@b>req:op{k:[[[[[$hot.m1]]]]]}[mid:m2,seq:2]"],
    "thread": [
        '{"accp_session": [1], "messages": []}',
        '{"accp_stored": {"m": null, "n": [1]}}',
        '{"agent_contexts": 1}',
        '{"aci_progress": "x"}',
    ],
}
"""What the fuzzers found, and holds now."""


@pytest.mark.parametrize("target", SEEDS)
def test_the_invariant_holds_for_every_seed(target: str) -> None:
    module = importlib.import_module(f"tests.harness.fuzz.{target}")
    seeds = first_inputs(target) | {found.encode("utf-8", "surrogatepass") for found in FOUND.get(target, ())}
    assert len(seeds) >= 8
    for seed in seeds:
        getattr(module, "check_all", module.check)(seed)
