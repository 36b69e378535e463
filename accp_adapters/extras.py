"""What to install where a library of an optional extra is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needs"]


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Name the `extra` of this package that an import within the `with` lacks, and the command that installs it.

    Raises:
        ModuleNotFoundError: a library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # A broken installation of ours is no missing extra, and an import further in knows better what it needs.
        if error.name is None or error.name.startswith("accp_") or "pip install" in str(error):
            raise
        reason = f"{error.name} is not installed: pip install 'accp-middleware[{extra}]'"
        raise ModuleNotFoundError(reason, name=error.name, path=error.path) from error
