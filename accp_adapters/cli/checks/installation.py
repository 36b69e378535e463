"""The versions of Python and of this package, its extras, and the switch that turns the middleware off."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterator
from importlib import import_module, metadata
from typing import Final

from packaging.requirements import Requirement

from accp_adapters.cli.checks.check import Check
from accp_adapters.policy import SWITCH, is_disabled

__all__ = ["installation"]

_DISTRIBUTION: Final = "accp-middleware"
_MODULES: Final = {
    "langgraph": "accp_adapters.langgraph",
    "mcp": "mcp",
    "a2a": "accp_adapters.a2a",
    "bindings": "accp_adapters.bindings",
    "openai-agents": "accp_adapters.frameworks.openai_agents",
    "pydantic-ai": "accp_adapters.frameworks.pydantic_ai",
    "redis": "accp_adapters.stores.redis",
    "nats": "accp_adapters.bindings.logs.nats",
    "tokenizers": "tokenizers",
}
"""What is imported to see whether an extra works."""


def installation() -> Iterator[Check]:
    """Yield a check for the package, one for each extra and one for the switch."""
    version = metadata.version(_DISTRIBUTION)
    python = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    yield Check(name=_DISTRIBUTION, found=f"{version} ({python})")
    for extra in metadata.metadata(_DISTRIBUTION).get_all("Provides-Extra") or ():
        if extra != "all":
            yield _extra(extra)
    yield from _switch()


def _switch() -> Iterator[Check]:
    """Yield a check where ACCP_DISABLED is set so that something follows from it."""
    try:
        found = f"{os.environ[SWITCH]}: the middleware changes nothing" if is_disabled() else ""
    except ValueError as error:
        found = str(error)
    if found:
        yield Check(name=SWITCH, found=found, next_step=f"unset {SWITCH}")


def _extra(extra: str) -> Check:
    """Return whether an extra is installed; one that is not is no problem, one in a wrong version is."""
    requirements = [Requirement(each) for each in metadata.requires(_DISTRIBUTION) or ()]
    wanted = [each for each in requirements if each.marker and each.marker.evaluate({"extra": extra})]
    found = {each.name: _version(each.name) for each in wanted}
    install = f"pip install '{_DISTRIBUTION}[{extra}]'"
    wrong = [each for each in wanted if (version := found[each.name]) and not each.specifier.contains(version, True)]
    if wrong:
        names = ", ".join(f"{each.name} {found[each.name]} (expected {each.specifier})" for each in wrong)
        return Check(name=f"extra {extra}", found=names, next_step=install)
    if missing := [name for name, version in found.items() if not version]:
        return Check(name=f"extra {extra}", found=f"not installed: {', '.join(missing)} missing; {install}")
    try:
        import_module(_MODULES.get(extra, "accp_adapters"))
    # A library that is broken may raise anything.
    except Exception as error:
        reason = f"installed, but broken: {type(error).__name__}: {error}"[:300]
        return Check(name=f"extra {extra}", found=reason, next_step=f"{install} --force-reinstall")
    return Check(name=f"extra {extra}", found=", ".join(f"{name} {version}" for name, version in found.items()))


def _version(name: str) -> str:
    """Return the installed version of a distribution; empty: there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
