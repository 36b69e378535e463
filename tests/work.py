"""How much work something is: counted, because a clock would tell how busy the machine is."""

import re
import sys
import time
from collections.abc import Callable
from re import _constants, _parser  # type: ignore[attr-defined]  # no public module shows what a pattern is made of
from types import FrameType, ModuleType
from typing import Any, Final

import pytest

__all__ = ["CountedPattern", "count_calls", "count_patterns", "grows_in_proportion", "unbounded_repeats"]

_REPEATS: Final = {_constants.MAX_REPEAT, _constants.MIN_REPEAT}


def count_calls(run: Callable[[], object], named: str = "") -> int:
    """Return how many functions `run` calls, those written in C included; with a name, those of that name in C."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        is_counted = event == "c_call" and getattr(argument, "__name__", "") == named
        calls += is_counted if named else event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


class CountedPattern:
    """A compiled regular expression that counts the characters of the texts that it is given."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        """Count from 0."""
        self._pattern = pattern
        self.characters = 0

    def __getattr__(self, name: str) -> Any:
        """Return a method of the pattern that counts, or another attribute of it."""
        attribute = getattr(self._pattern, name)
        if not callable(attribute):
            return attribute

        def run(*arguments: Any, **options: Any) -> Any:
            self.characters += len(next(each for each in reversed(arguments) if isinstance(each, str)))
            return attribute(*arguments, **options)

        return run


def count_patterns(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> list[CountedPattern]:
    """Return the regular expressions that stand in global names of `modules`, all of which count from now on."""
    counted: list[CountedPattern] = []

    def replaced(value: Any) -> Any:
        if isinstance(value, re.Pattern):
            counted.append(CountedPattern(value))
            return counted[-1]
        return tuple(map(replaced, value)) if type(value) is tuple else value

    for module in modules:
        for name, value in list(vars(module).items()):
            if isinstance(value, re.Pattern | tuple):
                monkeypatch.setattr(module, name, replaced(value))
    return counted


def unbounded_repeats(pattern: re.Pattern[str]) -> int:
    """Return how many repetitions of a regular expression have no upper bound and may be given back."""
    return _unbounded(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


def _unbounded(parsed: Any) -> int:
    """Return the same of a part of a pattern; what `re` makes of a pattern is tuples and lists of such parts."""
    if not isinstance(parsed, tuple | list | _parser.SubPattern):
        return 0
    parts = list(parsed)
    here = len(parts) == 2 and parts[0] in _REPEATS and parts[1][1] is _constants.MAXREPEAT
    return here + sum(map(_unbounded, parts))


def grows_in_proportion(run: Callable[[int], object], size: int) -> bool:
    """Return whether `run(4 * size)` takes less than 10 times the processor time of `run(size)`.

    In proportion to the size it takes 4 times as much, with its square 16 times. The least of several runs is taken,
    and only the time of this thread counts: how busy the machine is does not matter. The runs are not traced: their
    coverage would take more time than they do.
    """
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        return any(_least_time(run, 4 * size) < 10 * _least_time(run, size) for _ in range(3))
    finally:
        sys.settrace(tracer)


def _least_time(run: Callable[[int], object], size: int) -> float:
    times = []
    for _ in range(3):
        start = time.thread_time()
        run(size)
        times.append(time.thread_time() - start)
    return min(times)
