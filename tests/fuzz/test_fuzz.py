"""The invariants of the fuzzers over the inputs they start from; `make fuzz` looks further."""

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import __main__ as fuzz
from tests.fuzz.corpus import SEEDS, first_inputs, write_corpus

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
        '{"accp_fold": {"cut_id": 1, "upto": "x", "turns": 2, "results": 3, "text": [], "exclude_tools": 1, "key": 2, '
        '"digest": 1}}',
        '{"agent_contexts": 1}',
        '{"aci_progress": "x"}',
    ],
}
"""What the fuzzers found, and holds now."""


@pytest.mark.parametrize("target", SEEDS)
def test_the_invariant_holds_for_every_seed(target: str) -> None:
    module = importlib.import_module(f"tests.fuzz.{target}")
    seeds = first_inputs(target) | {found.encode("utf-8", "surrogatepass") for found in FOUND.get(target, ())}
    assert len(seeds) >= 8
    for seed in seeds:
        getattr(module, "check_all", module.check)(seed)


@pytest.mark.parametrize("target", SEEDS)
def test_each_target_says_its_invariant_in_one_sentence(target: str) -> None:
    sentence = importlib.import_module(f"tests.fuzz.{target}").__doc__ or ""
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_the_corpus_is_written_from_the_vectors(tmp_path: Path) -> None:
    assert write_corpus("frame", tmp_path / "frame") == len(list((tmp_path / "frame").iterdir())) > 100


def test_without_atheris_the_fuzzers_say_that_they_are_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert fuzz.main([]) == 0
    assert "skipped, atheris is not installed" in capsys.readouterr().out


def test_the_table_counts_inputs_and_names_what_broke(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = "AssertionError\nstat::number_of_executed_units: 1234\nstat::new_units_added: 5\nstat::peak_rss_mb: 60\n"
    broken = subprocess.CompletedProcess([sys.executable], 77, stdout="", stderr=said)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **options: broken)
    monkeypatch.chdir(tmp_path)
    assert fuzz.main(["frame"]) == 1
    table = capsys.readouterr().out
    assert "1,234" in table
    assert "BROKEN" in table
    assert "AssertionError" in table
