"""Packages whose names are imported from their modules when they are asked for first (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_exports"]


def lazy_exports(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, so that importing it imports none of the modules in `homes`.

    Args:
        package: The name of the package.
        homes: The names that each module offers, separated by blanks, by the name of the module. No name may be that
            of a module in the package, which Python would put in its place.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def import_name(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return import_name, list_names
