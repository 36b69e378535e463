"""The core once more, from its source, beside the core that is imported, whose modules may be compiled."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

__all__ = ["pure_core"]

_CORE = "accp_core"


class _SourceOnly:
    """Finds modules of the core in files of Python only."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where the source of a module is; None for a module of others."""
        if name.partition(".")[0] != _CORE:
            return None
        finders = (FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)) for folder in path or sys.path)
        return next(filter(None, (finder.find_spec(name) for finder in finders)), None)


@contextmanager
def pure_core() -> Iterator[None]:
    """While this lasts, an import of the core makes new modules from their source."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == _CORE}
    sys.meta_path.insert(0, _SourceOnly)
    try:
        yield
    finally:
        sys.meta_path.remove(_SourceOnly)
        for name in [name for name in sys.modules if name.partition(".")[0] == _CORE]:
            del sys.modules[name]
        sys.modules.update(kept)
