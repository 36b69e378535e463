"""A process that dies (SIGKILL) at a chosen access of a store."""

import inspect
import os
import signal
from collections.abc import Callable
from typing import Any

__all__ = ["Doom"]


class Doom:
    """Kills this process when it reaches a place for the n-th time; counts the places that it passed."""

    def __init__(self, at: int | None) -> None:
        """Die at place `at`; None or 0: never."""
        self.at = at
        self.passed = 0

    def reach(self) -> None:
        """Pass a place, or die."""
        self.passed += 1
        if self.passed == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def on(self, cls: type, *names: str) -> type:
        """Return `cls` with a place to die at before and after each of its methods `names`."""
        return type(cls.__name__, (cls,), {name: self._around(getattr(cls, name)) for name in names})

    def around(self, thing: Any, *names: str) -> Any:
        """Return `thing` itself, with a place to die at before and after each of its methods `names`."""
        for name in names:
            setattr(thing, name, self._around(getattr(thing, name)))
        return thing

    def _around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def aaround(*args: Any, **options: Any) -> Any:
            self.reach()
            result = await method(*args, **options)
            self.reach()
            return result

        def around(*args: Any, **options: Any) -> Any:
            self.reach()
            result = method(*args, **options)
            self.reach()
            return result

        return aaround if inspect.iscoroutinefunction(method) else around
