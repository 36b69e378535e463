"""Workflows as tables: what each step takes and which packet it gives (AACP section 6.1).

A step has a template for each field. `{period}` alone is the argument itself, be it text, number or list; within other
text it is put in as text, and `{period!snake}` with "_" for "-" and blanks. What is in `defaults` may be left out.
Every argument has its place in a template, so none can get lost; an argument without place is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Final, cast

from accp_core.aacp.encoding import Argument, encode_packet, is_blank, is_key, write_scalar, write_value
from accp_core.aacp.packet import Packet
from accp_core.aacp.vocabulary import DRAFT_VOCABULARY, PRIORITIES, Vocabulary
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["Workflow", "WorkflowEncoder", "WorkflowRun", "WorkflowStep", "workflow_from_dict"]

PLACE: Final = re.compile(r"\{(\w+)(!snake)?\}")
CALLERS: Final = ("return_agent", "priority")
"""The arguments that every step takes."""
RESERVED: Final = frozenset({*CALLERS, "task", "domain", "vocabulary"})
"""Names that are arguments of `encode_packet` and so no keys of a vocabulary of one's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStep:
    """One hop of a workflow; calling it gives its packet.

    Raises: ProtocolError E1004 when the table could give no packet.
    """

    task: str
    domain: str
    return_agent: str
    """Who receives the result, unless the caller names another."""
    priority: str = "2"
    """Used unless the caller gives another."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Key to template."""
    defaults: Mapping[str, Argument] = field(default_factory=dict)
    """Argument to what it is when it is not given; None leaves its field out."""
    phrases: tuple[str, ...] = ()
    """Instructions in English that mean this step, with places for arguments of one word each, see `Phrasebook`."""
    vocabulary: Vocabulary = DRAFT_VOCABULARY
    """Whose keys may be used besides the draft's."""
    parameters: tuple[str, ...] = field(init=False)
    """The names of its arguments, in the order in which they may be given without name."""

    def __post_init__(self) -> None:
        names = dict.fromkeys(found[1] for text in self.fields.values() for found in PLACE.finditer(text))
        required = [name for name in names if name not in self.defaults]
        object.__setattr__(self, "parameters", (*required, *(name for name in self.defaults if name in names)))
        check_step(self)

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that have no default."""
        return tuple(name for name in self.parameters if name not in self.defaults)

    def __call__(
        self, *values: Argument, return_agent: str | None = None, priority: str | int | None = None, **named: Argument
    ) -> Packet:
        """Return the packet.

        Raises: TypeError for an argument that is unknown, missing or given twice; EncodeError E1004 for a value that
            no packet can carry.
        """
        return self.encode(bind(self.parameters, values, named), return_agent=return_agent, priority=priority)

    def encode(
        self, given: Mapping[str, Argument], *, return_agent: str | None = None, priority: str | int | None = None
    ) -> Packet:
        """Return the packet of these arguments by name; raises what a call raises."""
        if not set(self.required) <= set(given) <= set(self.parameters):
            raise TypeError(f"expected {self.usage()}, found {', '.join(given) or 'nothing'}")
        arguments = {**self.defaults, **given}
        return encode_packet(
            self.task,
            self.domain,
            return_agent=self.return_agent if return_agent is None else return_agent,
            priority=self.priority if priority is None else priority,
            vocabulary=self.vocabulary,
            **{key: fill(text, arguments, self.required) for key, text in self.fields.items()},
        )

    def usage(self) -> str:
        """Return the names of the arguments, those that may be left out in brackets."""
        return " ".join([*self.required, *(f"[{name}]" for name in self.parameters if name in self.defaults)])


def bind(names: Sequence[str], values: Sequence[Argument], named: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return name to value of what a caller gave.

    Raises: TypeError when a value has no name or two.
    """
    if len(values) > len(names):
        raise TypeError(f"expected at most {len(names)} values ({', '.join(names)}), found {len(values)}")
    given = dict(zip(names, values, strict=False))
    for name, value in named.items():
        if name in given or name not in names:
            raise TypeError(f"not an argument, or twice: {name!r}; expected {', '.join((*names, *CALLERS))}")
        given[name] = value
    return given


def fill(template: str, arguments: Mapping[str, Argument], required: Sequence[str]) -> Argument:
    """Return what a field holds; None where an optional argument of it is not given."""
    names = [found[1] for found in PLACE.finditer(template)]
    for name in names:
        if is_blank(arguments[name]) and name in required:
            raise EncodeError(f"{name}: expected a value, found {arguments[name]!r}", code=ErrorCode.INVALID_TYPE)
    if any(is_blank(arguments[name]) for name in names):
        return None
    if template == f"{{{names[0] if names else ''}}}":
        return arguments[names[0]]
    texts = {name: write_scalar(name, arguments[name]) for name in names}
    return PLACE.sub(lambda found: snake(texts[found[1]]) if found[2] else texts[found[1]], template)


def snake(text: str) -> str:
    """Return `text` with "_" for "-" and blanks."""
    return re.sub(r"[- ]", "_", text)


def check_step(step: WorkflowStep) -> None:
    """Refuse a step that could give no packet, or that would lose an argument."""
    for key, text in step.fields.items():
        if not is_key(key, step.vocabulary) or key in RESERVED:
            raise refuse(f"{key}: not a key of a packet, or a name that its encoder needs")
        if "{" in PLACE.sub("", text) or "}" in PLACE.sub("", text):
            raise refuse(f"{key}: expected places like {{name}}, found {text!r}")
    if unknown := (set(step.defaults) - set(step.parameters)) | (set(step.parameters) & set(CALLERS)):
        raise refuse(f"not arguments of a template: {', '.join(sorted(unknown))}")
    if step.priority not in PRIORITIES:
        raise refuse(f"priority: expected one of {', '.join(PRIORITIES)}, found {step.priority!r}")
    check_phrases(step)
    # "1" is text, a number and a word.
    step.encode(dict.fromkeys(step.required, "1"))


def check_phrases(step: WorkflowStep) -> None:
    """Refuse a phrase that leaves a required argument open, or names one that there is not or within a word."""
    for phrase in step.phrases:
        if any("{" in word and not PLACE.fullmatch(word) for word in phrase.split()):
            raise refuse(f"phrase {phrase!r}: expected each place to be a word")
        places = {found[1] for found in PLACE.finditer(phrase)}
        if not set(step.required) <= places <= set(step.parameters):
            raise refuse(f"phrase {phrase!r}: expected places for {', '.join(step.required) or 'nothing'}")


def refuse(reason: str) -> ProtocolError:
    """Return the exception that refuses a table."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


class WorkflowRun:
    """All hops of a workflow, in order; calling it gives their packets."""

    def __init__(self, *hops: tuple[WorkflowStep, str]) -> None:
        """Take each step and, separated by blanks, the arguments that it is given.

        Raises: ProtocolError E1004 when a step lacks a required argument or has none of that name.
        """
        self.hops = tuple((step, tuple(names.split())) for step, names in hops)
        for step, names in self.hops:
            if not set(step.required) <= set(names) <= set(step.parameters):
                raise refuse(f"{step.task} takes {step.usage() or 'nothing'}, found {', '.join(names) or 'nothing'}")
        self.parameters = tuple(dict.fromkeys(name for _, names in self.hops for name in names))
        """The names of the arguments of the run."""

    def __call__(self, *values: Argument, **named: Argument) -> list[Packet]:
        """Return the packets of all hops.

        Raises: what the steps raise; TypeError for an argument that no hop takes.
        """
        given = bind(self.parameters, values, named)
        return [step.encode({name: given[name] for name in names if name in given}) for step, names in self.hops]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """Steps that belong together."""

    name: str
    steps: Mapping[str, WorkflowStep]
    run: WorkflowRun | None = None
    """All hops in order, where the table says so."""


class WorkflowEncoder:
    """A workflow as a class: its steps and its run are the attributes of each subclass."""

    workflow: ClassVar[Workflow]
    """The steps by name."""

    def __init_subclass__(cls, *, name: str) -> None:
        """Collect the steps."""
        steps = {key: value for key, value in vars(cls).items() if isinstance(value, WorkflowStep)}
        runs = [value for value in vars(cls).values() if isinstance(value, WorkflowRun)]
        cls.workflow = Workflow(name=name, steps=steps, run=runs[0] if runs else None)


def workflow_from_dict(data: Mapping[str, Any], *, vocabulary: Vocabulary = DRAFT_VOCABULARY) -> Workflow:
    """Return the workflow that a parsed TOML or JSON document declares.

    Its members are `name`, `steps` (name to task, domain, return, priority, fields, defaults, phrases) and, where
    the steps are hops of one run, `run` (step to the arguments it is given).

    Raises: ProtocolError E1004 with the place of what is wrong.
    """
    members = table(data, "workflow", {"name": str, "steps": Mapping}, {"run": Mapping})
    steps = {}
    for name, step in members["steps"].items():
        try:
            steps[name] = step_from_dict(step, vocabulary)
        except ProtocolError as error:
            raise refuse(f"steps.{name}: {error.reason}") from None
    if not steps or not members["name"]:
        raise refuse("a workflow has a name and steps")
    return Workflow(name=members["name"], steps=steps, run=run_from_dict(members.get("run"), steps))


def step_from_dict(data: object, vocabulary: Vocabulary) -> WorkflowStep:
    """Return the step that a table declares."""
    optional = {"priority": (str, int), "fields": Mapping, "defaults": Mapping, "phrases": list}
    members = table(data, "step", {"task": str, "domain": str, "return": str}, optional)
    return WorkflowStep(
        task=members["task"],
        domain=members["domain"],
        return_agent=members["return"],
        priority=str(members.get("priority", "2")),
        fields={key: template(key, text) for key, text in members.get("fields", {}).items()},
        defaults={name: default(name, value) for name, value in members.get("defaults", {}).items()},
        phrases=tuple(template("phrases", phrase) for phrase in members.get("phrases", ())),
        vocabulary=vocabulary,
    )


def run_from_dict(data: Mapping[str, Any] | None, steps: Mapping[str, WorkflowStep]) -> WorkflowRun | None:
    """Return the run that a table declares, if there is one."""
    if data is None:
        return None
    hops = []
    for name, arguments in data.items():
        if name not in steps or not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
            raise refuse(f"run.{name}: expected a step and a list of its arguments, found {arguments!r}")
        hops.append((steps[name], " ".join(arguments)))
    return WorkflowRun(*hops)


def table(data: object, what: str, required: Mapping[str, Any], optional: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `data`, if it is a table with these members of these types and no other."""
    kinds = {**required, **optional}
    if not isinstance(data, Mapping) or not set(required) <= set(data) <= set(kinds):
        found = sorted(map(str, data)) if isinstance(data, Mapping) else data
        raise refuse(
            f"{what}: expected a table of {', '.join(required)} and perhaps {', '.join(optional)}, found {found!r}"
        )
    for name, value in data.items():
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise refuse(f"{name}: found {value!r}")
    return data


def template(key: str, value: object) -> str:
    """Return the template of a field; a list of constants is one, too."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return write_value(key, value)
    if not isinstance(value, str):
        raise refuse(f"{key}: expected text, found {value!r}")
    return value


def default(name: str, value: object) -> Argument:
    """Return a default; in a table, which has no null, "" leaves the field out."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool) or not isinstance(item, (str, int, float, Decimal)) for item in items):
        raise refuse(f"defaults.{name}: expected text, a number or a list of them, found {value!r}")
    return cast("Argument", value)
