"""Small changes of the functions of a module, made by mutmut: each is the code of a function that takes its place."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.mutation.trampoline_templates import CLASS_NAME_SEPARATOR

__all__ = ["ROOT", "Change", "changes_in", "changes_of", "modules_of"]

ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one function."""

    name: str
    """Such as "accp_core.references.key.x_key_of__mutmut_3"; the same as long as the function is the same."""
    function: FunctionType
    """What is changed."""
    code: CodeType
    """What it does then."""
    module: str
    difference: str
    """What is changed: "- before + after"."""

    def apply(self) -> None:
        """Change the function, in this process."""
        self.function.__code__ = self.code


def modules_of(patterns: tuple[str, ...]) -> list[str]:
    """Return the modules of `accp_core` whose names begin with one of `patterns`."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "accp_core").rglob("*.py"))
    names = sorted(".".join(path.parts) for path in paths if path.name != "__init__")
    return [name for name in names if name.startswith(patterns)]


def changes_in(name: str) -> Iterator[Change]:
    """Yield the changes of a module that can be made while it runs: those of plain functions and methods."""
    module = importlib.import_module(name)
    path = ROOT / Path(*name.split(".")).with_suffix(".py")
    made = mutate_file_contents(str(path), path.read_text(encoding="utf-8"))
    changed, lines = _executed(module, made.code), made.code.splitlines()
    spans = made.line_span_by_function_name

    def text(function: str) -> list[str]:
        return lines[spans[function].start - 1 : spans[function].end]

    for mutant in made.mutant_names:
        mangled = mutant.rpartition("__mutmut_")[0]
        function, code = _function(vars(module), mangled, mangled), _function(changed, mangled, mutant)
        # Only a function with the same cells can take the code.
        assert function.__code__.co_freevars == code.__code__.co_freevars, mutant
        told = changes_of("\n".join(unified_diff(text(f"{mangled}__mutmut_orig"), text(mutant), n=0, lineterm="")))
        yield Change(name=f"{name}.{mutant}", function=function, code=code.__code__, module=name, difference=told)


def changes_of(difference: str) -> str:
    """Return the changed lines of a difference below the name of the function: "- before + after"."""
    lines = [line for line in difference.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    return " ".join(f"{line[0]} {line[1:].strip()}" for line in lines if "__mutmut_" not in line)


def _executed(module: ModuleType, code: str) -> dict[str, Any]:
    """Return the names of a module with its changes beside each function; the module itself stays as it is."""
    names = ModuleType(module.__name__)
    names.__dict__.update({"__file__": module.__file__, "__package__": module.__package__})
    # Dataclasses look up the module of their annotations.
    sys.modules[module.__name__] = names
    try:
        exec(compile(code, f"<changes of {module.__name__}>", "exec"), names.__dict__)
    finally:
        sys.modules[module.__name__] = module
    return names.__dict__


def _function(names: Mapping[str, Any], mangled: str, attribute: str) -> FunctionType:
    """Return a function or method of a module, or the change of one that stands beside it under `attribute`."""
    _, separator, rest = mangled.partition(CLASS_NAME_SEPARATOR)
    if separator:
        class_name, _, method = rest.partition(CLASS_NAME_SEPARATOR)
        found = vars(names[class_name])[method if attribute == mangled else attribute]
    else:
        found = names[mangled.removeprefix("x_") if attribute == mangled else attribute]
    function = getattr(found, "__func__", found)
    assert isinstance(function, FunctionType), attribute
    return function
