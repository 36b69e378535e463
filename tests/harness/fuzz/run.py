"""`python -m tests.harness.fuzz.run TARGET [libFuzzer option…]`: one target under atheris, in a process of its own."""

import gc
import importlib
import sys
from pathlib import Path
from typing import Final

import atheris

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = ["accp_core", "accp_adapters"]
WHOLE: Final = tuple(PACKAGES)
ACCP: Final = "accp_core.accp"
DECODERS: Final = dict.fromkeys(("registry", "packet", "envelope", "acp", "view", "difference", "layout"), WHOLE) | {
    "frame": (f"{ACCP}.parser", f"{ACCP}.grammar", f"{ACCP}.frame", f"{ACCP}.flat", f"{ACCP}.parse", f"{ACCP}.serial"),
    "session": (f"{ACCP}.session", f"{ACCP}.codec", f"{ACCP}.schema", f"{ACCP}.state", f"{ACCP}.profiles"),
    "thread": ("accp_adapters.langgraph", "accp_adapters.langchain"),
    "fetch": ("accp_adapters.fetching", "accp_core.tables"),
    "mcp": ("accp_adapters.mcp",),
    "a2a": ("accp_adapters.a2a",),
    "replay": ("accp_adapters.replay",),
    "forms": ("accp_core.documents",),
}
"""Target to the modules whose branches guide it; what they call has a target of its own, and would only be slower."""


def others(decoders: tuple[str, ...]) -> list[str]:
    """Return our modules whose names begin with none of `decoders`: atheris takes whole packages only."""
    files = [path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files}
    return sorted(name for name in names if not name.startswith(decoders))


def main() -> None:
    """Fuzz until an option of libFuzzer says stop, or an input breaks the invariant."""
    target, *options = sys.argv[1:]
    # What is instrumented must not have been imported before.
    with atheris.instrument_imports(include=PACKAGES, exclude=others(DECODERS[target])):
        module = importlib.import_module(f"tests.harness.fuzz.{target}")
    getattr(module, "prepare", lambda: None)()
    # What was imported stays: no collection looks at it again.
    gc.collect()
    gc.freeze()
    atheris.Setup([f"fuzz {target}", *options], module.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
