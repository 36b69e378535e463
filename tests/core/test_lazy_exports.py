"""What importing a package loads, and that every name it offers is found when it is asked for."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from accp_core.lazy_exports import lazy_exports

LAZY = {
    "accp_core": "one name of a frame or a view must not load the other",
    "accp_core.accp": "a frame is read without a session",
    "accp_adapters.frameworks": "each name needs a framework of its own",
    "accp_adapters.stores": "Redis is an extra",
}
"""A package whose names are imported when they are asked for, and the reason."""
LIST = "import sys; {}; print(*sys.modules)"


def modules_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has after `statement`."""
    run = subprocess.run(
        [sys.executable, "-I", "-c", LIST.format(statement)], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith(("accp_core", "accp_adapters"))}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_a_package_is_lazy_for_a_reason() -> None:
    root = Path(__file__).parents[2]
    files = [path for name in ("accp_core", "accp_adapters") for path in (root / name).rglob("__init__.py")]
    lazy = [path.parent for path in files if "lazy_exports" in path.read_text(encoding="utf-8")]
    assert {".".join(folder.relative_to(root).parts) for folder in lazy} == LAZY.keys()


@pytest.mark.parametrize("name", [*LAZY])
def test_what_a_type_checker_sees_is_what_is_imported(name: str) -> None:
    package = importlib.import_module(name)
    [choice] = [node for node in ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8")).body
                if isinstance(node, ast.If) and is_type_checking(node)]  # fmt: skip
    seen = {
        node.module: {alias.name for alias in node.names} for node in choice.body if isinstance(node, ast.ImportFrom)
    }
    [homes] = [ast.literal_eval(node) for node in ast.walk(choice) if isinstance(node, ast.Dict)]
    assert {module: set(names.split()) for module, names in homes.items()} == seen


@pytest.mark.parametrize("name", [*LAZY])
def test_no_lazy_name_is_that_of_a_module(name: str) -> None:
    package = importlib.import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert modules.isdisjoint(package.__all__)


def test_a_name_that_nobody_offers_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'accp_core' has no attribute 'no_such_name'"):
        lazy_exports("accp_core", {"accp_core.errors": "DecodeError"})[0]("no_such_name")


@pytest.mark.parametrize("name", [*LAZY])
def test_all_names_are_listed_before_one_is_asked_for(name: str) -> None:
    listed = modules_after(f"import {name} as package; listed = dir(package); sys.modules = listed")
    assert set(importlib.import_module(name).__all__) <= listed


def test_importing_the_core_imports_nothing_of_it() -> None:
    assert ours(modules_after("import accp_core")) == {"accp_core", "accp_core.lazy_exports"}


def test_who_reads_frames_loads_no_views_and_no_sessions() -> None:
    loaded = modules_after("from accp_core import parse_frame, serialize_frame")
    assert not {name for name in loaded if name.startswith(("accp_core.view", "accp_core.accp.session"))}
    assert len(ours(loaded)) <= 20


def test_who_renders_loads_no_frames() -> None:
    assert not {name for name in modules_after("from accp_core import render") if name.startswith("accp_core.accp")}


def test_a_name_that_was_not_asked_for_yet_is_listed() -> None:
    _, list_names = lazy_exports("accp_core", {"nowhere": "unheard_of"})
    assert {"unheard_of", "__all__"} <= set(list_names())
