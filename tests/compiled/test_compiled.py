"""Compiled modules write, read and refuse the same as those of Python: `make test-compiled`.

COMPILED_INPUTS (2,000): random values, and texts made from their views, that are compared.
"""

import os
import random
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Final

import pytest

from tests.compiled.pure import pure_core
from tests.conformance.vectors import exact
from tests.harness.fuzz.difference import WRITERS
from tests.harness.fuzz.values import value_of
from tests.harness.fuzz.view import count

PROJECT: Final = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
MODULES: Final = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]
INPUTS: Final = int(os.environ.get("COMPILED_INPUTS", "2000"))

SIGNS: Final = ("", " ", ",", ";", "-", "{", "}", "[", "]", '"', "&1 ", "*1", "!json ", "=", ": ", "\n", '"""')

pytestmark = pytest.mark.skipif(
    os.environ.get("ACCP_COMPILED") != "1", reason="make test-compiled has compiled modules"
)


Views = tuple[Callable[..., str], Callable[..., Any], Callable[..., Any]]


def views() -> Views:
    """Return what the core that is imported now renders and reads with."""
    view = import_module("accp_core.view")
    return view.render, view.read, view.render_text


@pytest.fixture(scope="module")
def compiled() -> Views:
    return views()


@pytest.fixture(scope="module")
def pure() -> Views:
    with pure_core():
        return views()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_compiled_and_beside_its_source(name: str) -> None:
    assert str(import_module(name).__file__).endswith(tuple(EXTENSION_SUFFIXES))
    with pure_core():
        assert str(import_module(name).__file__).endswith(".py")


@pytest.mark.parametrize("seed", range(8))
def test_both_write_read_and_refuse_the_same(compiled: Views, pure: Views, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(INPUTS // 8):
        value = value_of(chance.randbytes(chance.randrange(300)))
        source = WRITERS[chance.randrange(len(WRITERS))](value)
        written = write(compiled, value, source)
        assert written == write(pure, value, source), source
        for text in (written[0], damaged(written[0], chance), source):
            assert read(compiled, text) == read(pure, text), text


def write(views: Views, value: Any, source: str) -> tuple[str, str, str]:
    """Return the view of a value, and that of a text with its layout."""
    render, _, render_text = views
    view = render_text(source, counter=count)
    return render(value, counter=count), view.text, view.layout


def damaged(text: str, chance: random.Random) -> str:
    """Return a view with a few characters left out, repeated or put in."""
    start, end, at = (chance.randrange(len(text) + 1) for _ in range(3))
    return text[:start] + chance.choice(SIGNS) + text[end : end + 9] + text[at:]


def read(views: Views, text: str) -> tuple[Any, ...]:
    """Return the value of a view, shown with its types, or why it is refused, and where."""
    try:
        return (repr(exact(views[1](text))),)
    except ValueError as refusal:
        return type(refusal).__name__, str(refusal), getattr(refusal, "position", None)
