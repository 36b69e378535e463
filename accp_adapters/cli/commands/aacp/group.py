"""`accp aacp`: AACP packets encoded, checked and explained (draft-mackay-aacp-01)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from accp_adapters.cli.commands.aacp.encode import describe_finding, encode
from accp_adapters.cli.commands.aacp.registry import registry
from accp_adapters.cli.errors import refusal
from accp_adapters.cli.groups import HelpGroup
from accp_adapters.cli.sources import STDIN, read_source, say, write_text

__all__ = ["aacp"]

aacp = typer.Typer(
    cls=HelpGroup,
    help="Encode, check and explain AACP packets: instructions between agents (draft-mackay-aacp-01).",
    no_args_is_help=True,
)
aacp.command()(encode)
aacp.add_typer(registry, name="registry")

File = Annotated[str, typer.Argument(help="A file with a packet on each line; `-` is standard input.")]


@aacp.command()
def validate(
    file: File = STDIN,
    *,
    forbid: Annotated[
        bool, typer.Option("--forbid", help="Personal data and credentials are errors, not warnings.")
    ] = False,
) -> None:
    """Report the errors and warnings of each packet; exit code 1 if one has an error.

    Example: `accp aacp encode payroll period=2024-08 | accp aacp validate`
    """
    from accp_core.aacp import validate as check

    invalid = 0
    for line, text in _lines(file):
        report = check(text, forbid=forbid)
        invalid += not report.valid
        for kind, findings in (("error", report.errors), ("warning", report.warnings)):
            for finding in findings:
                say(f"{file}:{line}:{finding.position + 1}: {kind}: {describe_finding(finding)}")
    raise typer.Exit(1 if invalid else 0)


@aacp.command()
def explain(file: File = STDIN) -> None:
    """Print each packet, or each record of an audit log, as one sentence in English.

    Example: `accp aacp explain audit.jsonl`
    """
    from accp_core.aacp import explain as to_sentence
    from accp_core.aacp import parse_packet
    from accp_core.aacp.audit import read_record
    from accp_core.errors import DecodeError

    for line, text in _lines(file):
        try:
            record = read_record(text) if text.startswith("{") else None
            sentence = to_sentence(parse_packet(record.packet if record else text))
        except DecodeError as error:
            raise refusal(error, path=file, line=line) from error
        write_text(f"{record.at} {record.run} {record.status}: {sentence}" if record else sentence)


def _lines(path: str) -> Iterator[tuple[int, str]]:
    lines = read_source(path).split("\n")
    yield from ((number, line.removesuffix("\r")) for number, line in enumerate(lines, 1) if line.strip())
