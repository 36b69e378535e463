"""The bars of the house: what it holds in all, small folders, files and functions, and one home for each idea."""

import ast
import functools
import graphlib
import statistics
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for name in ("accp_core", "accp_adapters") for path in (ROOT / name).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "llms.txt", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = sorted({path.parent for path in MODULES})
MAX_MODULES = 20
MAX_FILE_LINES = 700
"""A file tells one story: the readers of a grammar, or a connection, take this many lines."""
MAX_FUNCTION_LINES = 40
MAX_MEDIAN_LINES = 8
MAX_P90_LINES = 20

MOST_PRODUCT_LINES = 38_949
MOST_TEST_LINES = 44_890
MOST_PRODUCT_FILES = 252
MOST_WORDS = 20_500
"""What the next reader has to read. These numbers may only fall: lower them with what leaves."""

HOMES = {
    "key_of": "accp_core/references/",
    "check_grant": "accp_core/references/",
    "compress": "accp_core/",
    "read_json": "accp_core/strict_json.py",
    "compact_json": "accp_core/strict_json.py",
    "ErrorCode": "accp_core/error_codes.py",
    "accept_reply": "accp_core/aci/",
}
"""Function or class, and where the only module is that defines it."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements_of(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a module, class or function, and those within them."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from statements_of(child)


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in statements_of(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def code_lines_of(path: Path) -> int:
    """Return the number of lines without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    code = {n for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")}
    # Not kept: many thousands of nodes would slow down the garbage collector.
    texts = [each for each in statements_of(ast.parse(text)) if isinstance(each, ast.Expr) and is_text(each.value)]
    return len(code.difference(*(range(each.lineno, (each.end_lineno or 0) + 1) for each in texts)))


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_the_house_only_shrinks() -> None:
    assert sum(map(code_lines_of, MODULES)) <= MOST_PRODUCT_LINES
    assert sum(map(code_lines_of, TESTS)) <= MOST_TEST_LINES
    assert len(MODULES) <= MOST_PRODUCT_FILES
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in DOCUMENTS) <= MOST_WORDS


def test_folders_and_files_are_small() -> None:
    assert [name_of(each) for each in FOLDERS if len(list(each.glob("*.py"))) > MAX_MODULES] == []
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES} == {}


@pytest.mark.parametrize("package", ["accp_core", "accp_adapters"])
def test_functions_are_small(package: str) -> None:
    modules = [path for path in MODULES if path.is_relative_to(ROOT / package)]
    named = [(f"{name_of(path)}: {each.name}", lines_of(each)) for path in modules for each in functions_of(path)]
    assert [each for each in named if each[1] > MAX_FUNCTION_LINES] == []
    lengths = [length for _, length in named]
    assert statistics.median(lengths) <= MAX_MEDIAN_LINES
    assert statistics.quantiles(lengths, n=10)[-1] <= MAX_P90_LINES


@pytest.mark.parametrize(("name", "home"), HOMES.items())
def test_an_idea_is_defined_in_one_home(name: str, home: str) -> None:
    # A method may have the name of a function: it is called on something that says which one.
    (found,) = [name_of(path) for path in MODULES if name in defined_names(path)]
    assert found.startswith(home)


def defined_names(path: Path) -> set[str]:
    """Return the functions and classes that a module defines."""
    body = tree_of(path).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


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


HARNESS = ROOT / "tests" / "harness"
CLOCKS = ("perf_counter(", "process_time(", "monotonic(", "thread_time(", "time.sleep(")


def test_no_test_asks_a_clock() -> None:
    tests = [path for path in TESTS if not path.is_relative_to(HARNESS) and path != Path(__file__)]
    found = {name_of(path) for path in tests if any(clock in path.read_text(encoding="utf-8") for clock in CLOCKS)}
    # Deadlines of what waits for an event; slow work; counted work; workers that are killed at a random moment.
    assert found <= {
        "tests/limits.py",
        "tests/work.py",
        "tests/adapters/langgraph/worker.py",
        "tests/adapters/langgraph/test_workers.py",
        "tests/adapters/mcp/test_pump.py",
        "tests/adapters/mcp/test_wrapped_http.py",
        "tests/adapters/a2a/test_bounded.py",
    }
