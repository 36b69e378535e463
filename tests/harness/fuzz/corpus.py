"""What the fuzzers start from: the vectors, seeds that are made of them, and inputs that earlier runs found."""

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from accp_core.accp.profiles import BUILT_IN
from tests.conformance.vectors import ROOT, files
from tests.harness.fuzz import adapter_seeds
from tests.written_forms import WRITERS

__all__ = ["KEPT", "SEEDS", "WORDS", "first_inputs", "write_corpus"]

KEPT: Final = Path(__file__).parent / "kept"
"""One file for each target: JSON strings, a line each, of inputs that reach what the seeds do not."""

WORDS: Final = (
    *("@a>req:op{", "sync:state{v:1|delta:{", "sync:registry{v:1|hash:", "stream:infer{idx:0|tot:3|d:", "|schema:TC}"),
    *(
        "[mid:m1,seq:1,ts:1714000000]",
        ",ttl:",
        ",cid:m1",
        "cancel",
        "=null",
        '="',
        "%C3%A9",
        "_x64_",
        "$cold.",
        "$warm.",
    ),
    *("|return:", "|aacp:1.1", "|p:", "%7C", '{"type":"acp.message"', '"parts":[', "data: "),
    *("\\\\", "true", "null", "-0.0", "1e400", '{"$', '"schemas":', '"defaults":', "\\n"),
)
"""What a mutation would take long to find."""


def vectors(family: str = "accp") -> Iterator[Mapping[str, Any]]:
    """Yield the content of every vector file."""
    for path in files(family):
        yield json.loads(path.read_text(encoding="utf-8"))


def texts(source: object) -> Iterator[str]:
    """Yield every string of a vector file that could be a frame or the value of one."""
    if isinstance(source, Mapping):
        for key, value in source.items():
            if isinstance(value, str) and key in {"text", "canonical", "receive", "send", "wire", "ascii"}:
                yield value
            else:
                yield from texts(value)
    elif isinstance(source, list):
        for item in source:
            yield from texts(item)


def frames() -> Iterator[str]:
    """Yield the text of each frame of the vectors, the refused ones included."""
    for content in vectors():
        for text in texts(content):
            yield text if text.startswith("@") else f"@a>req:op{{k:{text}}}"


def views() -> Iterator[str]:
    """Yield JSON in many shapes: every vector, and frames, which are none."""
    for content in vectors():
        for kind, cases in content.items():
            yield from (json.dumps(case, ensure_ascii=False, indent=len(kind) % 3 or None) for case in cases)
            if isinstance(cases, list):
                yield json.dumps(cases[:20])
    yield from frames()


def registries() -> Iterator[str]:
    """Yield registries and offers: the built-in one, and each of its schemas alone."""
    yield BUILT_IN.canonical_json
    yield json.dumps(BUILT_IN.offer())
    for schema in BUILT_IN.schemas:
        yield json.dumps({"schemas": {schema.name: schema.to_json()}})
        lacking = type(BUILT_IN)(schemas=tuple(each for each in BUILT_IN.schemas if each is not schema))
        yield json.dumps(BUILT_IN.offer(lacking))


def conversations() -> Iterator[str]:
    """Yield frames line by line, as a carrier hands them over: every file's in its own order, then one by one."""
    for content in vectors():
        found = list(texts(content))
        yield from ("\n".join(found[start : start + 8]) for start in range(0, len(found), 8))
    yield from frames()


def packets() -> Iterator[str]:
    """Yield the text of each packet of the vectors, and instructions."""
    for content in vectors("aacp"):
        yield from texts(content)
    yield from ("Please do not delete E-17, thanks.", "Could you fetch it?", "FETCH|HR|return:A|aacp:1.1|res:%7C%25")


def envelopes() -> Iterator[str]:
    """Yield the text of each envelope and link of the vectors, and an event stream."""
    for content in vectors("acp"):
        for text in texts(content):
            yield text
            yield f"event: acp.message\nid: 1\ndata: {text}\n\n: keepalive\n\n"


def logs() -> Iterator[str]:
    """Yield recorded runs in every format; libFuzzer cuts those that are longer than its inputs."""
    for path in sorted((ROOT / "replay").rglob("*.json*")):
        text = path.read_text(encoding="utf-8")
        if path.parent.name == "details":
            cases = json.loads(text).values()
            yield from ("\n".join(map(json.dumps, case.get("records", [case]))) for case in cases)
        elif path.suffix == ".jsonl":
            yield from text.splitlines()
        else:
            yield json.dumps(json.loads(text))


def tables() -> Iterator[bytes]:
    """Yield a table for each form, then each form with other cells, within a text."""
    for form in range(len(WRITERS)):
        yield bytes((form, 100, 0, 0)) + bytes(range(160, 250)) + bytes(range(90))
        yield bytes((form, 200, 7, 201)) + bytes(range(200, 130, -1)) * 2


SEEDS: Final[Mapping[str, Callable[[], Iterator[str] | Iterator[bytes]]]] = {
    "frame": frames,
    "view": views,
    "registry": registries,
    "session": conversations,
    "packet": packets,
    "envelope": envelopes,
    "difference": adapter_seeds.values,
    "layout": adapter_seeds.layouts,
    "thread": adapter_seeds.states,
    "fetch": adapter_seeds.queries,
    "mcp": adapter_seeds.mcp_lines,
    "a2a": adapter_seeds.tasks,
    "acp": adapter_seeds.acp_lines,
    "replay": logs,
    "forms": tables,
}
"""Target to what yields its first inputs."""


def kept_inputs(target: str) -> Iterator[bytes]:
    """Yield the inputs of earlier runs that are kept for a target."""
    path = KEPT / f"{target}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    yield from (json.loads(line).encode("latin-1") for line in lines)


def first_inputs(target: str) -> set[bytes]:
    """Return the seeds of a target and what is kept for it."""
    seeds = {seed if isinstance(seed, bytes) else seed.encode("utf-8", "surrogatepass") for seed in SEEDS[target]()}
    return seeds | set(kept_inputs(target))


def write_corpus(target: str, folder: Path) -> int:
    """Write the seeds of one target into `folder`, one a file; return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = first_inputs(target)
    for seed in seeds:
        (folder / sha256(seed).hexdigest()[:16]).write_bytes(seed)
    return len(seeds)
