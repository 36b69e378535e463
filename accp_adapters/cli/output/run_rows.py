"""The rows of many runs, in temporary files until the text before them is known: memory does not grow with them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, Self

from accp_adapters.replay.report import RunComparison

if TYPE_CHECKING:
    from tempfile import SpooledTemporaryFile

__all__ = ["RunRows"]

_MAX_IN_MEMORY: Final = 1_000_000
"""Characters of the rows of one policy that need no file."""
_PIECE: Final = 65_536
"""Characters that are read at once."""


class RunRows:
    """The texts of runs under each policy, in the order in which they were added; deleted at the end of a `with`."""

    def __init__(self, to_text: Callable[[RunComparison, str], str], *, between: str = "") -> None:
        """Start without a row.

        Args:
            to_text: Returns the row of a run under the policy of that name.
            between: The text between two rows of a policy.
        """
        self._to_text = to_text
        self._between = between
        self._files: dict[str, SpooledTemporaryFile[str]] = {}
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def add(self, run: RunComparison, policy: str) -> None:
        """Add the row of a run.

        Raises:
            OSError: there is no room for temporary files.
        """
        row = self._to_text(run, policy)
        if policy in self._files:
            row = f"{self._between}{row}"
        else:
            self._files[policy] = self._opened.enter_context(_new_file())
        self._files[policy].write(row)

    def of(self, policy: str) -> Iterator[str]:
        """Yield the rows of a policy in pieces; nothing where it has none."""
        file: Any = self._files.get(policy)
        if file is not None:
            file.seek(0)
            yield from iter(lambda: file.read(_PIECE), "")


def _new_file() -> SpooledTemporaryFile[str]:
    return tempfile.SpooledTemporaryFile(
        _MAX_IN_MEMORY, mode="w+", encoding="utf-8", errors="surrogatepass", newline=""
    )
