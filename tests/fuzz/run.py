"""`python -m tests.fuzz.run TARGET [libFuzzer option…]`: one target under atheris, in a process of its own."""

import gc
import importlib
import sys

import atheris


def main() -> None:
    """Fuzz until an option of libFuzzer says stop, or an input breaks the invariant."""
    target, *options = sys.argv[1:]
    # What is instrumented must not have been imported before.
    with atheris.instrument_imports(include=["accp_core", "accp_adapters"]):
        check = importlib.import_module(f"tests.fuzz.{target}").check
    # What was imported stays: no collection looks at it again.
    gc.collect()
    gc.freeze()
    atheris.Setup([f"fuzz {target}", *options], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
