"""`accp aacp encode`: the packet of a workflow's step, or of an instruction in English."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accp_adapters.cli.commands.aacp.registry import open_registry
from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.sources import read_source, say, write_text

if TYPE_CHECKING:
    from accp_core.aacp import Finding, Packet, Workflow
    from accp_core.ports import InstructionEncoder

__all__ = ["describe_finding", "encode"]


class Priority(StrEnum):
    """The priorities of section 5.3."""

    CRITICAL = "1"
    MEDIUM = "2"
    LOW = "3"


Step = Annotated[
    str,
    typer.Argument(help="A step such as `payroll.fetch_employees`, or a workflow for all its steps; none: a list."),
]
StepArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME=VALUE", help="The arguments of the step; repeat a name for a list."),
]
English = Annotated[str, typer.Option(help="An instruction in English instead of a step.")]
Domain = Annotated[str, typer.Option(help="With --english: the business domain, such as HR.")]
ReturnAgent = Annotated[str, typer.Option("--return", help="The agent that receives the result.")]
PriorityOption = Annotated[Priority | None, typer.Option(help="1 critical, 2 medium, 3 low.")]
WorkflowFiles = Annotated[
    list[Path] | None,
    typer.Option(exists=True, dir_okay=False, help="A TOML file with a workflow of your own; repeatable."),
]
RegistryOption = Annotated[
    Path | None,
    typer.Option("--registry", dir_okay=False, help="With --english: the SQLite file of encoded instructions."),
]
ModelName = Annotated[
    str, typer.Option(help="With --english: the chat model for new instructions, such as `openai:gpt-5`.")
]


def encode(
    step: Step = "",
    arguments: StepArguments = None,
    *,
    english: English = "",
    domain: Domain = "",
    return_agent: ReturnAgent = "",
    priority: PriorityOption = None,
    workflows: WorkflowFiles = None,
    registry_file: RegistryOption = None,
    model: ModelName = "",
) -> None:
    """Print the packet of a step of a workflow, or of an instruction in English.

    Standard error has the warnings and, for English, the source of the packet: a rule, the registry (exact, pattern)
    or the model.

    Example: `accp aacp encode payroll.send_report period=2024-08 to=cfo to=hr_director`

    Example: `accp aacp encode --english "Fetch budgets" --domain FIN --return HR-Agent --registry known.sqlite`
    """
    known = _workflows(workflows or [])
    if english:
        if step or not domain or not return_agent:
            raise typer.BadParameter("expected --domain and --return with --english, and no step")
        _encode_english(english, domain, return_agent, priority, known, registry_file, model)
    elif domain or registry_file or model:
        raise typer.BadParameter("expected --domain, --registry and --model only with --english")
    elif step:
        options = {"return_agent": return_agent or None, "priority": priority.value if priority else None}
        for packet in _encode_step(step, _named(arguments or []), known, options):
            _show(packet)
    else:
        _list(known)


def describe_finding(finding: Finding) -> str:
    """Return a finding as one line: code, field and reason."""
    return f"{finding.code.value}: {finding.field}: {finding.reason}"


def _show(packet: Packet) -> None:
    from accp_core.aacp import validate as check

    for warning in check(packet).warnings:
        say(f"warning: {describe_finding(warning)}")
    write_text(str(packet))


def _workflows(paths: list[Path]) -> dict[str, Workflow]:
    """Return the workflows by name: those of the draft, and the user's own, which replace them."""
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
    """Return the arguments of NAME=VALUE words; the values of a repeated name are a list."""
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
                raise typer.BadParameter("expected --return and --priority only for one step")
            return table.run(**arguments)
    except EncodeError as error:
        raise InputRefused(error.reason, path=name, code=error.code) from error
    except TypeError as error:
        raise typer.BadParameter(f"{name}: {error}") from error
    raise typer.BadParameter(f"expected a step that `accp aacp encode` lists, found {name!r}")


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
        opened = open_registry(path, create=True) if path else SqliteInstructionRegistry()
        with opened as store:
            encoder = FallbackEncoder(store, _model(model), workflows=known.values())
            wanted = priority or Priority.MEDIUM
            encoded = encoder.encode(english, domain=domain, return_agent=return_agent, priority=wanted.value)
    except ProtocolError as error:
        raise InputRefused(error.reason, path="--english", code=error.code) from error
    for warning in encoded.warnings:
        say(f"warning: {describe_finding(warning)}")
    say(f"{encoded.tier.value}, seen {encoded.times_seen}")
    write_text(str(encoded.packet))


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
