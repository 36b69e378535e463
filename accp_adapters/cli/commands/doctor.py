"""`accp doctor`: whether this installation works, with the next step for each problem."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Final

import typer

from accp_adapters.cli.commands.replay import EXAMPLE
from accp_adapters.cli.sources import write_line
from accp_adapters.extras import needs

__all__ = ["doctor"]

_DISTRIBUTION: Final = "accp-middleware"
_MODULES: Final = {
    "langgraph": "accp_adapters.langgraph",
    "mcp": "accp_adapters.mcp",
    "a2a": "accp_adapters.a2a",
    "bindings": "accp_adapters.bindings",
    "openai-agents": "accp_adapters.frameworks.openai_agents",
    "pydantic-ai": "accp_adapters.frameworks.pydantic_ai",
    "redis": "accp_adapters.stores.redis",
}
"""What is imported to see whether an extra works."""
_SAMPLE: Final = 'Tokens are counted here: {"a": [1, 2.5, "naïve 東京"]}'
_SAMPLE_TOKENS: Final = 23
"""Tokens of the sample in o200k_base, counted with the vocabulary as published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one check found."""

    name: str
    """What was looked at."""
    found: str
    """What was found."""
    next_step: str = ""
    """What to do about it; empty: nothing is wrong."""


def doctor(
    stores: Annotated[list[str] | None, typer.Argument(help="Stores to reach: `sqlite:PATH` or URLs of Redis.")] = None,
) -> None:
    """Look at the version, the installed extras, stores, the token counter and the default policy.

    An extra that is not installed is no problem and is not shown. A store gets a probe, which is read and deleted
    again; user, password and options of a URL are not shown. The exit code is 1 where there is a problem.

    Example: `accp doctor`

    Example: `accp doctor sqlite:texts.sqlite redis://localhost:6379/0`
    """
    problems = 0
    for check in _checks(stores or []):
        write_line(f"{'PROBLEM' if check.next_step else 'ok':8}{check.name}: {check.found}")
        if check.next_step:
            write_line(f"{'':8}next: {check.next_step}")
        problems += bool(check.next_step)
    write_line(f"{problems} problem{'' if problems == 1 else 's'}" if problems else "no problem")
    raise typer.Exit(1 if problems else 0)


def _checks(stores: list[str]) -> Iterator[Check]:
    python = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    yield Check(name=_DISTRIBUTION, found=f"{metadata.version(_DISTRIBUTION)} ({python})")
    for extra in metadata.metadata(_DISTRIBUTION).get_all("Provides-Extra") or ():
        yield from _extra(extra) if extra != "all" else ()
    yield from _switch()
    yield from map(_store, stores)
    yield _counter()
    yield _policy()


def _extra(extra: str) -> Iterator[Check]:
    """Yield a check of an extra whose libraries are all here; in another version than it needs, they are others'."""
    with needs("cli"):
        from packaging.requirements import Requirement

    requirements = [Requirement(each) for each in metadata.requires(_DISTRIBUTION) or ()]
    wanted = [each for each in requirements if each.marker and each.marker.evaluate({"extra": extra})]
    found = {each.name: _version(each.name) for each in wanted}
    if not all(found.values()):
        return
    name, install = f"extra {extra}", f"pip install '{_DISTRIBUTION}[{extra}]'"
    wrong = [each for each in wanted if not each.specifier.contains(found[each.name], True)]
    if wrong:
        others = ", ".join(f"{each.name} {found[each.name]} ({each.specifier} needed)" for each in wrong)
        yield Check(name=name, found=f"not installed; {others}; to use it, {install}")
        return
    try:
        import_module(_MODULES.get(extra, "accp_adapters"))
    # A library that is broken may raise anything.
    except Exception as error:
        reason = f"installed, but broken: {type(error).__name__}: {error}"[:300]
        yield Check(name=name, found=reason, next_step=f"{install} --force-reinstall")
        return
    yield Check(name=name, found=", ".join(f"{each} {version}" for each, version in found.items()))


def _version(name: str) -> str:
    """Return the installed version of a distribution; empty: there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _switch() -> Iterator[Check]:
    """Yield a check where ACCP_DISABLED is set so that something follows from it."""
    from accp_adapters.policy import SWITCH, is_disabled

    try:
        found = f"{os.environ[SWITCH]}: the middleware changes nothing" if is_disabled() else ""
    except ValueError as error:
        found = str(error)
    if found:
        yield Check(name=SWITCH, found=found, next_step=f"unset {SWITCH}")


def _store(address: str) -> Check:
    """Return whether a probe can be written to a store, read and deleted; no password is shown."""
    from accp_adapters.stores.sqlite import open_store

    scheme, _, path = address.partition(":")
    # Of a URL only what cannot hold a password is shown.
    shown = address if scheme == "sqlite" else f"{scheme[:20]} store"
    if scheme not in ("sqlite", "redis", "rediss", "unix"):
        return Check(name=shown, found="an unknown kind", next_step="expected sqlite:PATH or redis://HOST")
    if scheme == "sqlite" and not Path(path).exists() and Path(path).absolute().parent.is_dir():
        # Opening it would create it.
        return Check(name=shown, found="not there yet; it will be created at the first use")
    session, probe = f"accp-doctor-{secrets.token_hex(8)}", "a probe of accp doctor"
    try:
        opened = open_store(address)
        try:
            opened.put(session, "cold.probe", probe)
            found = opened.get(session, "cold.probe")
        finally:
            with contextlib.suppress(Exception):
                opened.purge(session)
    # Each client has errors of its own, whose words may repeat a password.
    except Exception as error:
        reason = " ".join(str(error).split())[:300] if scheme == "sqlite" else type(error).__name__
        advice = "give the path of a file that this user may write, or check host, port, password and TLS of the URL"
        return Check(name=shown, found=reason, next_step=advice)
    if found != probe:
        return Check(name=shown, found="the probe did not come back", next_step="check who else writes to this store")
    return Check(name=shown, found="a probe was written, read and deleted")


def _counter() -> Check:
    from accp_adapters.tokens import o200k_base

    tokens, title = o200k_base()(_SAMPLE), "counter o200k_base"
    if tokens == _SAMPLE_TOKENS:
        return Check(name=title, found=f"{tokens} tokens of a sample; its vocabulary is in the package")
    found = f"expected {_SAMPLE_TOKENS} tokens of the sample, found {tokens}"
    return Check(name=title, found=found, next_step=f"pip install --force-reinstall {_DISTRIBUTION}")


def _policy() -> Check:
    """Return what the default policy does to the recorded run of the package."""
    from accp_adapters.replay import Report, StrategyName, read_runs, replay_all

    names = (StrategyName.AS_RECORDED, StrategyName.DEFAULT)
    report = Report.of((before, after) for before, after in replay_all(read_runs(EXAMPLE), names))
    total = report.total()
    is_whole = total.after.reachable == total.after.needed
    figures = f"{total.before.prompt:,} → {total.after.prompt:,} tokens of prompts in an example"
    return Check(
        name="policy default",
        found=figures if is_whole else f"{figures}; needed values are out of reach",
        next_step="" if is_whole else "report this as a fault of this package",
    )
