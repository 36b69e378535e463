"""`accp doctor`: what is installed and reachable, and what to do about what is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from accp_adapters.cli.errors import ExtraMissing
from accp_adapters.cli.sources import write_line

if TYPE_CHECKING:
    from accp_adapters.cli.checks.check import Check

__all__ = ["doctor"]

_POLICIES: Final = ("lossless", "default", "tight")


def doctor(
    stores: Annotated[
        list[str] | None,
        typer.Argument(help="Stores to reach: `sqlite:PATH`, URLs of Redis, PostgreSQL or NATS."),
    ] = None,
    *,
    policy: Annotated[str, typer.Option(help="The policy to try: lossless, default or tight.")] = "default",
    tokenizer: Annotated[
        str, typer.Option(help="A tiktoken encoding, or the path of a Hugging Face tokenizer.json.")
    ] = "o200k_base",
) -> None:
    """Look at versions, extras, stores, the token counter and what a policy does; say the next step for each problem.

    A store gets a probe, which is read and deleted again. User, password and options of a URL are not shown. The exit
    code is 1 where there is a problem; an extra that is not installed is none.

    Example: `accp doctor`

    Example: `accp doctor sqlite:texts.sqlite redis://localhost:6379/0`
    """
    if policy not in _POLICIES:
        expected = ", ".join(_POLICIES)
        raise typer.BadParameter(f"expected one of {expected}, found {policy!r}", param_hint="--policy")
    problems = 0
    for check in _checks(stores or [], policy, tokenizer):
        write_line(f"{'PROBLEM' if check.is_problem else 'ok':8}{check.name}: {check.found}")
        if check.is_problem:
            write_line(f"{'':8}next: {check.next_step}")
        problems += check.is_problem
    write_line("")
    write_line(f"{problems} problem{'' if problems == 1 else 's'}" if problems else "no problem")
    raise typer.Exit(1 if problems else 0)


def _checks(stores: list[str], policy: str, tokenizer: str) -> Iterator[Check]:
    try:
        from accp_adapters.cli.checks import counting, installation
        from accp_adapters.cli.checks import stores as reachable
    except ImportError as error:
        raise ExtraMissing("accp doctor", extra="cli") from error
    yield from installation.installation()
    yield from map(reachable.store, stores)
    yield counting.counter(tokenizer)
    yield from counting.policy(policy)
