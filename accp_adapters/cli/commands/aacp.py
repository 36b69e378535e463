"""`accp aacp`: instructions as packets, written, checked and told (draft-mackay-aacp-01)."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused, refusal
from accp_adapters.cli.sources import STDIN, read_source, write_text
from accp_core.error_codes import ErrorCode

if TYPE_CHECKING:
    from accp_adapters.stores import SqliteInstructionRegistry
    from accp_core.aacp import Finding, Packet, Workflow
    from accp_core.ports import InstructionEncoder

__all__ = ["aacp"]

aacp = typer.Typer(
    help="Write, check and explain AACP packets: instructions between agents (draft-mackay-aacp-01).",
    no_args_is_help=True,
)
registry = typer.Typer(help="The instructions that were encoded before, in one SQLite file.", no_args_is_help=True)
aacp.add_typer(registry, name="registry")

File = Annotated[str, typer.Argument(help="A file with a packet on each line; `-` is standard input.")]
RegistryFile = Annotated[Path, typer.Argument(dir_okay=False, help="The registry's SQLite file.")]


class Priority(StrEnum):
    """The priorities of section 5.3."""

    CRITICAL = "1"
    MEDIUM = "2"
    LOW = "3"


@aacp.command()
def encode(
    step: Annotated[
        str,
        typer.Argument(help="A step such as `payroll.fetch_employees`, or a workflow for all its hops; none: a list."),
    ] = "",
    arguments: Annotated[
        Optional[list[str]],  # noqa: UP045  typer reads the annotation
        typer.Argument(metavar="NAME=VALUE", help="The step's arguments; one name several times is a list."),
    ] = None,
    *,
    english: Annotated[str, typer.Option(help="An instruction in English instead of a step.")] = "",
    domain: Annotated[str, typer.Option(help="With --english: the business domain, such as HR.")] = "",
    return_agent: Annotated[str, typer.Option("--return", help="Who receives the result.")] = "",
    priority: Annotated[
        Optional[Priority],  # noqa: UP045  typer reads the annotation
        typer.Option(help="1 critical, 2 medium, 3 low."),
    ] = None,
    workflows: Annotated[
        Optional[list[Path]],  # noqa: UP045  typer reads the annotation
        typer.Option(exists=True, dir_okay=False, help="A TOML file with a workflow of your own; repeatable."),
    ] = None,
    registry_file: Annotated[
        Optional[Path],  # noqa: UP045  typer reads the annotation
        typer.Option("--registry", dir_okay=False, help="With --english: where known instructions are kept."),
    ] = None,
    model: Annotated[str, typer.Option(help="With --english: who is asked what is new, such as `openai:gpt-5`.")] = "",
) -> None:
    """Print the packet of a step of a workflow, or of an instruction in English.

    Warnings go to standard error, and for English where the packet comes from: a rule, the registry (exact,
    pattern) or the model.

    Example: `accp aacp encode payroll.send_report period=2024-08 to=cfo to=hr_director`

    Example: `accp aacp encode --english "Fetch budgets" --domain FIN --return HR-Agent --registry known.sqlite`
    """
    known = _workflows(workflows or [])
    if english:
        if step or not domain or not return_agent:
            raise typer.BadParameter("--english wants --domain and --return, and no step")
        _encode_english(english, domain, return_agent, priority, known, registry_file, model)
    elif domain or registry_file or model:
        raise typer.BadParameter("--domain, --registry and --model are for --english")
    elif step:
        options = {"return_agent": return_agent or None, "priority": priority.value if priority else None}
        for packet in _encode_step(step, _named(arguments or []), known, options):
            _show(packet)
    else:
        _list(known)


@aacp.command()
def validate(
    file: File = STDIN,
    *,
    forbid: Annotated[
        bool, typer.Option("--forbid", help="Personal data and credentials are errors, not warnings.")
    ] = False,
) -> None:
    """Report what is wrong or doubtful with each packet; exit code 1 if one must not be sent.

    Example: `accp aacp encode payroll period=2024-08 | accp aacp validate`
    """
    from accp_core.aacp import validate as check

    invalid = 0
    for line, text in _lines(file):
        report = check(text, forbid=forbid)
        invalid += not report.valid
        for kind, findings in (("error", report.errors), ("warning", report.warnings)):
            for finding in findings:
                typer.echo(f"{file}:{line}:{finding.position + 1}: {kind}: {_told(finding)}", err=True)
    raise typer.Exit(1 if invalid else 0)


@aacp.command()
def explain(file: File = STDIN) -> None:
    """Print each packet, or each record of an audit log, as one sentence.

    The packet is the record; the sentence is only for reading.

    Example: `accp aacp explain audit.jsonl`
    """
    from accp_core.aacp import explain as tell
    from accp_core.aacp import parse_packet
    from accp_core.aacp.audit import read_record
    from accp_core.errors import DecodeError

    for line, text in _lines(file):
        try:
            record = read_record(text) if text.startswith("{") else None
            said = tell(parse_packet(record.packet if record else text))
        except DecodeError as error:
            raise refusal(error, path=file, line=line) from error
        write_text(f"{record.at} {record.run} {record.status}: {said}" if record else said)


@registry.command("list")
def list_entries(
    path: RegistryFile, *, limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 100
) -> None:
    """Print the entries, those asked for most first: how often, from where, the packet.

    Example: `accp aacp registry list known.sqlite --limit 10`
    """
    with _open(path) as opened:
        for entry in opened.entries(limit):
            write_text(f"{entry.times_seen}\t{entry.source}\t{entry.packet}\t{entry.english}".rstrip("\t"))
        typer.echo(f"{len(opened):,} entries", err=True)


@registry.command("import")
def import_entries(
    path: RegistryFile,
    files: Annotated[list[str], typer.Argument(help="JSON files; `-` is standard input.")],
    *,
    keep_english: Annotated[
        bool, typer.Option("--keep-english", help="Keep the instructions themselves, too.")
    ] = False,
) -> None:
    """Take over the reference package's `unknown_patterns.json` and community rule files.

    Every packet is validated; what is not taken is told on standard error. Exit code 1 if a file is no registry.

    Example: `accp aacp registry import known.sqlite registry/unknown_patterns.json rules.json`
    """
    from accp_core.aacp.registry import read_registry
    from accp_core.errors import ProtocolError

    read = []
    for file in files:
        try:
            read.append((file, read_registry(json.loads(read_source(file)), source=file, keep_english=keep_english)))
        except json.JSONDecodeError as error:
            raise InputRefused(error.msg, path=file, line=error.lineno, column=error.colno) from error
        except (ProtocolError, RecursionError) as error:
            raise InputRefused(getattr(error, "reason", "nested too deep"), path=file) from error
    with _open(path, create=True) as opened:
        for file, imported in read:
            for reason in imported.refused:
                typer.echo(f"{file}: refused: {reason}", err=True)
            new = opened.add(imported.entries)
            typer.echo(f"{file}: {new:,} new entries, {len(imported.refused):,} refused", err=True)


@registry.command()
def forget(
    path: RegistryFile, packets: Annotated[list[str], typer.Argument(help="Packets, as `list` prints them.")]
) -> None:
    """Remove the entries with these packets; exit code 1 if one is not there.

    Example: `accp aacp registry forget known.sqlite 'FETCH|HR|return:A|p:2|aacp:1.1|res:absence'`
    """
    with _open(path) as opened:
        for packet in packets:
            gone = [opened.forget(entry.pattern) for entry in opened.entries() if entry.packet == packet]
            if not gone:
                raise InputRefused(f"no entry with the packet {packet!r}", path=str(path), code=ErrorCode.REF_NOT_FOUND)
            typer.echo(f"{len(gone)} removed: {packet}", err=True)


def _lines(path: str) -> Iterator[tuple[int, str]]:
    lines = read_source(path).split("\n")
    yield from ((number, line.removesuffix("\r")) for number, line in enumerate(lines, 1) if line.strip())


def _told(finding: Finding) -> str:
    return f"{finding.code.value}: {finding.field}: {finding.reason}"


def _show(packet: Packet) -> None:
    from accp_core.aacp import validate as check

    for warning in check(packet).warnings:
        typer.echo(f"warning: {_told(warning)}", err=True)
    write_text(str(packet))


def _workflows(paths: list[Path]) -> dict[str, Workflow]:
    """Return the workflows by name: those of the draft, and before them one's own."""
    from accp_core.aacp import WORKFLOWS, workflow_from_dict
    from accp_core.errors import ProtocolError

    known = {workflow.name: workflow for workflow in WORKFLOWS}
    for path in paths:
        try:
            own = workflow_from_dict(tomllib.loads(read_source(str(path))))
        except tomllib.TOMLDecodeError as error:
            raise InputRefused(str(error), path=str(path)) from error
        except ProtocolError as error:
            raise InputRefused(error.reason, path=str(path), code=error.code) from error
        known[own.name] = own
    return known


def _named(arguments: list[str]) -> dict[str, Any]:
    """Return the arguments of NAME=VALUE words; a name that comes several times is a list."""
    given: dict[str, list[str]] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals:
            raise typer.BadParameter(f"expected NAME=VALUE, found {argument!r}")
        given.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in given.items()}


def _encode_step(
    name: str, arguments: dict[str, Any], known: dict[str, Workflow], options: dict[str, str | None]
) -> list[Packet]:
    from accp_core.errors import EncodeError

    workflow, _, step = name.partition(".")
    table = known.get(workflow)
    try:
        if table and step in table.steps:
            return [table.steps[step](**options, **arguments)]
        if table and table.run and not step:
            if any(options.values()):
                raise typer.BadParameter("--return and --priority are for one step")
            return table.run(**arguments)
    except EncodeError as error:
        raise InputRefused(error.reason, path=name, code=error.code) from error
    except TypeError as error:
        raise typer.BadParameter(f"{name}: {error}") from error
    raise typer.BadParameter(f"no step {name!r}; `accp aacp encode` lists all steps")


def _list(known: dict[str, Workflow]) -> None:
    for workflow in known.values():
        if workflow.run:
            write_text(f"{workflow.name} {' '.join(workflow.run.parameters)}")
        for name, step in workflow.steps.items():
            write_text(f"{workflow.name}.{name} {step.usage()}".rstrip())


def _encode_english(
    english: str,
    domain: str,
    return_agent: str,
    priority: Priority | None,
    known: dict[str, Workflow],
    path: Path | None,
    model: str,
) -> None:
    from accp_adapters.stores import SqliteInstructionRegistry
    from accp_core.aacp import FallbackEncoder
    from accp_core.errors import ProtocolError

    try:
        opened = _open(path, create=True) if path else SqliteInstructionRegistry()
        with opened as kept:
            encoder = FallbackEncoder(kept, _model(model), workflows=known.values())
            wanted = priority or Priority.MEDIUM
            found = encoder.encode(english, domain=domain, return_agent=return_agent, priority=wanted.value)
    except ProtocolError as error:
        raise InputRefused(error.reason, path="--english", code=error.code) from error
    for warning in found.warnings:
        typer.echo(f"warning: {_told(warning)}", err=True)
    typer.echo(f"{found.tier.value}, seen {found.times_seen}", err=True)
    write_text(str(found.packet))


def _model(name: str) -> InstructionEncoder | None:
    if not name:
        return None
    try:
        from langchain.chat_models import init_chat_model

        from accp_adapters.instructions import ModelInstructionEncoder
    except ImportError as error:
        raise ExtraMissing("a model", extra="langgraph") from error
    try:
        return ModelInstructionEncoder(init_chat_model(name))
    except (ImportError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="--model") from error


def _open(path: Path, *, create: bool = False) -> SqliteInstructionRegistry:
    from accp_adapters.stores import SqliteInstructionRegistry

    if not create and not path.exists():
        raise typer.BadParameter(f"{path}: no such file")
    try:
        return SqliteInstructionRegistry(path)
    except (sqlite3.Error, OSError) as error:
        raise InputRefused(str(error), path=str(path)) from error
