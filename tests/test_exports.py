"""What each module offers: an explicit `__all__` of names that exist and say what they are."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import accp_adapters
import accp_core

ROOTS = (accp_core, accp_adapters)
NAMES = sorted(
    name
    for root in ROOTS
    for name in [root.__name__, *(each.name for each in pkgutil.walk_packages(root.__path__, f"{root.__name__}."))]
)
OF_ADK = {
    "accp_adapters.frameworks.adk_fetch",
    "accp_adapters.frameworks.adk_parts",
    "accp_adapters.frameworks.adk_results",
    "accp_adapters.frameworks.google_adk",
}


def loaded(name: str) -> ModuleType:
    if name in OF_ADK:
        pytest.importorskip("google.adk", reason="holds websockets below 16: make test-others")
    return importlib.import_module(name)


def imports_names(module: ModuleType) -> bool:
    """Return whether the module itself imports or defines anything that others could take from it."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    return any(isinstance(node, kinds) for node in tree.body)


@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_it_is_for(name: str) -> None:
    module = loaded(name)
    assert module.__doc__ or not imports_names(module)


@pytest.mark.parametrize("name", NAMES)
def test_a_module_lists_what_it_offers_and_offers_what_it_lists(name: str) -> None:
    module = loaded(name)
    if imports_names(module):
        offered = module.__all__
        assert len(offered) == len(set(offered))
        assert [each for each in offered if not hasattr(module, each)] == []
        assert [each for each in offered if each.startswith("_")] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_function_and_class_that_is_offered_says_what_it_does(name: str) -> None:
    module = loaded(name)
    offered = [getattr(module, each) for each in getattr(module, "__all__", ())]
    documented = [each for each in offered if inspect.isfunction(each) or inspect.isclass(each)]
    assert [each.__name__ for each in documented if not is_documented(each)] == []


def is_documented(offered: object) -> bool:
    # A dataclass without a docstring gets its signature for one.
    text = inspect.getdoc(offered) or ""
    return bool(text) and not text.startswith(f"{getattr(offered, '__name__', '')}(")


@pytest.mark.parametrize("name", NAMES)
def test_every_public_method_of_what_is_offered_says_what_it_does(name: str) -> None:
    module = loaded(name)
    classes = [
        getattr(module, each) for each in getattr(module, "__all__", ()) if inspect.isclass(getattr(module, each))
    ]
    missing = [
        f"{each.__name__}.{method}"
        for each in classes
        if each.__module__ == name
        for method, member in vars(each).items()
        if inspect.isfunction(member) and not method.startswith("_") and not inspect.getdoc(getattr(each, method))
    ]
    assert missing == []


def test_the_root_of_the_core_offers_the_everyday_names() -> None:
    everyday = {"parse_frame", "serialize_frame", "Frame", "Envelope", "Ref", "DecodeError", "EncodeError"}
    assert everyday | {
        "render",
        "read",
        "render_text",
        "View",
        "preview",
        "compress",
        "Compressed",
        "ResultLimits",
    } <= set(accp_core.__all__)


def test_what_the_root_offers_is_what_its_packages_offer() -> None:
    packages = [loaded(f"accp_core.{name}") for name in ("accp", "compression", "errors", "previews", "view")]
    offered = {id(getattr(package, name)) for package in packages for name in package.__all__}
    assert [name for name in accp_core.__all__ if id(getattr(accp_core, name)) not in offered] == []


def test_names_stand_in_the_order_of_the_alphabet() -> None:
    assert accp_core.__all__ == sorted(accp_core.__all__)


def test_the_root_of_the_adapters_offers_nothing() -> None:
    assert getattr(accp_adapters, "__all__", []) == []
