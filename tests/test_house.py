"""The bars of the house: small folders, files and functions, and one home for each idea."""

from __future__ import annotations

import ast
import functools
import graphlib
import statistics
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for name in ("accp_core", "accp_adapters") for path in (ROOT / name).rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})
MAX_MODULES = 15
MAX_FILE_LINES = 400
# One class writes the notation of views and one reads it: cut in two, each half would call the other.
GRAMMARS = {"accp_core/view/read_value.py", "accp_core/view/write.py"}
MAX_FUNCTION_LINES = 40
MAX_MEDIAN_LINES = 8
MAX_P90_LINES = 20

HOMES = {
    "key_of": "accp_core/references/key.py",
    "check_grant": "accp_core/references/grants.py",
    "compress": "accp_core/compression.py",
    "ResultLimits": "accp_core/compression.py",
    "read_json": "accp_core/strict_json.py",
    "strict_decoder": "accp_core/strict_json.py",
    "compact_json": "accp_core/strict_json.py",
    "BoundedDict": "accp_core/bounded.py",
    "ErrorCode": "accp_core/error_codes.py",
    "accept_reply": "accp_core/aci/reply.py",
    "READ_PRICE": "accp_core/projection/cache_cost.py",
    "WRITE_PRICE": "accp_core/projection/cache_cost.py",
}
"""Function, class or constant, and the one module that defines it."""

BUILDERS = {
    # Reading in an embedded text's own style, and from the middle of a text.
    "JSONDecoder": {
        "accp_core/strict_json.py",
        "accp_core/documents/json_styles.py",
        "accp_core/documents/cut/cut_json.py",
        "accp_core/tables/shortened.py",
    },
    # Writing in the style that a text had.
    "separators": {
        "accp_core/strict_json.py",
        "accp_core/documents/json_styles.py",
        "accp_adapters/replay/formats/frameworks/json_layouts.py",
    },
    "OrderedDict": {"accp_core/bounded.py"},
}
"""A class or a keyword argument, and the modules that may use it."""

SHARED_NAMES = {
    "the same idea of two protocols": ("Acknowledged EXTENSION Json Link Message Part"),
    "of each format, notation or state machine": "CODE IS_SEVERAL KEY LAYOUT MAX_DEPTH TRANSITIONS Table Value",
    "a text in which something was replaced: a repeat, a row": "Shortened",
    "of a recorded conversation, beside that of a live one": "Finding Request Role Snapshot Source Step",
    "a text that is read, and one that questions are asked of; the figures of each": "Document Report",
}
"""Why several modules define a public name, and the names."""

SHARED_MODULES = {
    "aacp/registry.py": "the command that edits a registry",
    "frameworks/pydantic_ai.py": "what is recorded by the framework",
    "references/grants.py": "the grants that a graph's state holds",
}
"""A module in several folders of one name, and why."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


# One test for all modules names all that are wrong: a test for each took longer to start and to report than to run.
def test_there_are_modules_of_both_packages() -> None:
    assert {"accp_core/view/read_value.py", "accp_adapters/langgraph/__init__.py"} <= set(map(name_of, MODULES))


def test_a_folder_is_small() -> None:
    assert [name_of(each) for each in FOLDERS if len(list(each.glob("*.py"))) > MAX_MODULES] == []


def test_a_file_is_small() -> None:
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES and name not in GRAMMARS} == {}


def test_a_function_is_small() -> None:
    named = [(f"{name_of(path)}: {each.name}", lines_of(each)) for path in MODULES for each in functions_of(path)]
    assert [each for each in named if each[1] > MAX_FUNCTION_LINES] == []


@pytest.mark.parametrize("package", ["accp_core", "accp_adapters"])
def test_most_functions_are_a_few_lines(package: str) -> None:
    modules = [path for path in MODULES if name_of(path).startswith(f"{package}/")]
    lengths = [lines_of(each) for path in modules for each in functions_of(path)]
    assert statistics.median(lengths) <= MAX_MEDIAN_LINES
    assert statistics.quantiles(lengths, n=10)[-1] <= MAX_P90_LINES


@pytest.mark.parametrize(("name", "home"), HOMES.items())
def test_an_idea_is_defined_in_one_home(name: str, home: str) -> None:
    # A method may have the name of a function: it is called on something that says which one.
    assert [name_of(path) for path in MODULES if name in defined_names(path)] == [home]


def defined_names(path: Path) -> set[str]:
    """Return the functions, classes and annotated constants that a module defines."""
    body = tree_of(path).body
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return names | {ast.unparse(node.target) for node in body if isinstance(node, ast.AnnAssign)}


def test_a_public_class_or_constant_has_a_name_of_its_own() -> None:
    homes = [(name, path) for path in MODULES for name in public_names(path)]
    counted = Counter(name for name, _ in homes)
    twice = {name for name, count in counted.items() if count > 1}
    assert sorted(twice) == sorted(" ".join(SHARED_NAMES.values()).split())


def public_names(path: Path) -> set[str]:
    """Return the classes, aliases and constants that a module defines and lists in `__all__`."""
    body = tree_of(path).body
    assigned = {ast.unparse(node.targets[0]): node.value for node in body if isinstance(node, ast.Assign)}
    listed = set(ast.literal_eval(assigned["__all__"])) if "__all__" in assigned else set()
    return {name for name in defined_names(path) | assigned.keys() if name in listed and name[0].isupper()}


def test_a_module_has_a_name_of_its_own_in_folders_of_a_name() -> None:
    counted = Counter("/".join(path.parts[-2:]) for path in MODULES if path.name != "__init__.py")
    assert {name for name, count in counted.items() if count > 1} == SHARED_MODULES.keys()


@pytest.mark.parametrize(("name", "homes"), BUILDERS.items())
def test_a_thing_is_built_in_its_home(name: str, homes: set[str]) -> None:
    assert {name_of(path) for path in MODULES if name in used_names(path)} - homes == set()


@functools.cache
def used_names(path: Path) -> set[str]:
    """Return the names and keyword arguments that a module uses."""
    nodes = list(ast.walk(tree_of(path)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return names | {str(node.arg) for node in nodes if isinstance(node, ast.keyword)}


def test_only_references_have_patterns_of_their_text() -> None:
    others = [path for path in MODULES if "references" not in path.parts]
    assert {name_of(path): found for path in others if (found := [p for p in patterns_of(path) if "cold" in p])} == {}


def patterns_of(path: Path) -> list[str]:
    """Return the string constants within the calls of `re` that a module makes."""
    calls = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    of_re = [call for call in calls if ast.unparse(call.func).startswith("re.")]
    constants = [node for call in of_re for node in ast.walk(call) if isinstance(node, ast.Constant)]
    return [node.value for node in constants if isinstance(node.value, str)]


def test_no_modules_import_each_other_in_a_circle() -> None:
    # Imports within functions and for the type checker count: who reads one module has to read the other.
    modules = {module_name(path): path for path in MODULES}
    graph = {name: imported_modules(path, modules.keys()) - {name} for name, path in modules.items()}
    # It raises `CycleError` with the modules of a circle.
    graphlib.TopologicalSorter(graph).prepare()


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(path: Path, modules: Collection[str]) -> set[str]:
    """Return the modules that a module imports, each from where it is: a package imports nothing back."""
    imports = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)]
    names = {f"{node.module}.{alias.name}": str(node.module) for node in imports for alias in node.names}
    return {name if name in modules else module for name, module in names.items()} & set(modules)


def test_the_map_names_every_folder() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = [name_of(folder) for folder in FOLDERS if folder.parent != ROOT]
    assert [name for name in folders if f"{name.partition('/')[2]}/" not in text] == []


PATIENT = {"tests/limits.py", "tests/work.py", "tests/test_house.py"}
CLOCKS = ("perf_counter(", "process_time(", "monotonic(", "thread_time(", "time.sleep(")


def test_no_test_asks_a_clock() -> None:
    tests = [
        path for path in (ROOT / "tests").rglob("*.py") if "bench" not in path.parts and name_of(path) not in PATIENT
    ]
    found = {name_of(path) for path in tests if any(clock in path.read_text(encoding="utf-8") for clock in CLOCKS)}
    # Workers that are killed at a random moment; samples at equal times; changes, tried by the fastest tests first.
    assert found <= {
        "tests/adapters/langgraph/worker.py",
        "tests/adapters/langgraph/test_workers.py",
        "tests/mutants/trial.py",
        "tests/soak/__main__.py",
    }
