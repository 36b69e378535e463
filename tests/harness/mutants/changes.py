"""Small changes of the functions of a module, made by mutmut: each is the code of a function that takes its place."""

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

__all__ = ["ROOT", "Change", "changes_in", "modules_of"]

ROOT: Final = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one function."""

    name: str
    """Such as "accp_core.references.key.x_key_of__mutmut_3"; the same as long as the function is the same."""
    function: FunctionType
    """What is changed."""
    code: CodeType
    """What it does then."""
    defaults: tuple[object, ...] | None
    """The defaults of its arguments then, which are no part of its code."""
    keyword_defaults: dict[str, object] | None
    module: str
    before: str
    """The lines that are changed."""
    after: str
    """The lines in their place."""

    @property
    def difference(self) -> str:
        """What is changed: "- before + after"."""
        return f"- {self.before} + {self.after}"

    def apply(self) -> None:
        """Change the function, in this process."""
        self.function.__code__ = self.code
        self.function.__defaults__ = self.defaults
        self.function.__kwdefaults__ = self.keyword_defaults  # type: ignore[assignment]  # None: there are none


def modules_of(prefixes: tuple[str, ...]) -> list[str]:
    """Return the modules of `accp_core` with a change whose name begins with one of `prefixes`."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "accp_core").rglob("*.py"))
    names = sorted(".".join(path.parts) for path in paths if path.name != "__init__")
    return [
        name for name in names if any(f"{name}.".startswith(each) or each.startswith(f"{name}.") for each in prefixes)
    ]


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
        function = _function(vars(module), mangled, mangled)
        original, code = (_function(changed, mangled, each) for each in (f"{mangled}__mutmut_orig", mutant))
        # Only a function with the same cells can take the code.
        assert function.__code__.co_freevars == code.__code__.co_freevars, mutant
        before, after = _changed_lines(text(f"{mangled}__mutmut_orig"), text(mutant))
        # A default that is not changed stays the object that it is here.
        taken = function if _defaults(code) == _defaults(original) else code
        yield Change(
            name=f"{name}.{mutant}",
            function=function,
            code=code.__code__,
            defaults=taken.__defaults__,
            keyword_defaults=taken.__kwdefaults__,
            module=name,
            before=before,
            after=after,
        )


def _defaults(function: FunctionType) -> tuple[object, object]:
    return function.__defaults__, function.__kwdefaults__


def _changed_lines(original: list[str], changed: list[str]) -> tuple[str, str]:
    """Return the lines of a function that differ, and those in their place, each in one line."""
    texts = [[re.sub(r"(def )\S+__mutmut_\w+", r"\1_", line) for line in lines] for lines in (original, changed)]
    lines = [line for line in unified_diff(*texts, n=0, lineterm="") if re.match(r"[-+](?![-+]{2})", line)]
    before, after = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return before, after


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
