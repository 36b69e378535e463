"""What each module offers: an explicit `__all__` of names that exist and say what they are."""

import ast
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import accp_adapters
import accp_core

ROOTS = (accp_core, accp_adapters)
NAMES = sorted(
    name
    for root in ROOTS
    for name in [root.__name__, *(each.name for each in pkgutil.walk_packages(root.__path__, f"{root.__name__}."))]
)


@functools.cache
def modules() -> list[ModuleType]:
    """Return all modules."""
    return [importlib.import_module(name) for name in NAMES]


@functools.cache
def imports_names(module: ModuleType) -> bool:
    """Return whether the module itself imports or defines anything that others could take from it."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    return any(isinstance(node, kinds) for node in tree.body)


def offers(module: ModuleType) -> dict[str, object]:
    return {name: getattr(module, name) for name in getattr(module, "__all__", ())}


# One test for all modules names all that are wrong: a test for each took longer to start and to report than to run.
def test_there_are_modules_of_both_packages() -> None:
    names = {module.__name__ for module in modules()}
    assert {"accp_core", "accp_core.view.read_value", "accp_adapters", "accp_adapters.langgraph"} <= names


def test_a_module_says_what_it_is_for() -> None:
    assert [each.__name__ for each in modules() if not each.__doc__ and imports_names(each)] == []


def test_a_module_lists_what_it_offers_and_offers_what_it_lists() -> None:
    assert {
        each.__name__: faults for each in modules() if imports_names(each) and (faults := list(list_faults(each)))
    } == {}


def list_faults(module: ModuleType) -> Iterator[str]:
    """Yield what is wrong with the list of what a module offers."""
    offered = getattr(module, "__all__", None)
    if offered is None:
        yield "no __all__"
        return
    yield from (f"{name} twice" for name in set(offered) if offered.count(name) > 1)
    yield from (f"{name} is not there" for name in offered if not hasattr(module, name))
    yield from (f"{name} is private" for name in offered if name.startswith("_"))


def test_every_function_and_class_that_is_offered_says_what_it_does() -> None:
    missing = {
        f"{module.__name__}.{name}"
        for module in modules()
        for name, offered in offers(module).items()
        if (inspect.isfunction(offered) or inspect.isclass(offered)) and not is_documented(offered)
    }
    assert missing == set()


def is_documented(offered: object) -> bool:
    # A dataclass without a docstring gets its signature for one.
    text = inspect.getdoc(offered) or ""
    return bool(text) and not text.startswith(f"{getattr(offered, '__name__', '')}(")


def test_every_public_method_of_what_is_offered_says_what_it_does() -> None:
    missing = {
        f"{module.__name__}.{each.__name__}.{method}"
        for module in modules()
        for each in offers(module).values()
        if inspect.isclass(each) and each.__module__ == module.__name__
        for method, member in vars(each).items()
        if inspect.isfunction(member) and not method.startswith("_") and not inspect.getdoc(getattr(each, method))
    }
    assert missing == set()


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
    packages = [
        importlib.import_module(f"accp_core.{name}") for name in ("accp", "compression", "errors", "previews", "view")
    ]
    offered = {id(getattr(package, name)) for package in packages for name in package.__all__}
    assert [name for name in accp_core.__all__ if id(getattr(accp_core, name)) not in offered] == []


def test_names_stand_in_the_order_of_the_alphabet() -> None:
    assert accp_core.__all__ == sorted(accp_core.__all__)


def test_the_root_of_the_adapters_offers_nothing() -> None:
    assert getattr(accp_adapters, "__all__", []) == []
