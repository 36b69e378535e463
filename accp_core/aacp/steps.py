"""Workflows as tables: the arguments of each step and the packet that it gives (AACP section 6.1).

A step has a template for each field. A template that is only `{period}` stands for the argument itself: text, number or
list. Within other text, the argument is inserted as text; `{period!snake}` inserts it with "_" for "-" and blanks.
Text in brackets is left out where an argument in it has no value: "usr={username}[,dept={department}]". Arguments in
`defaults` are optional. Every argument has a placeholder in a template, so none is lost; an argument without a
placeholder is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Final, cast

from accp_core.aacp import encoding
from accp_core.aacp.packet import DRAFT_VOCABULARY, PRIORITIES, Packet, Vocabulary
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["Workflow", "WorkflowEncoder", "WorkflowRun", "WorkflowStep", "workflow_from_dict"]

PLACEHOLDER: Final = re.compile(r"\{(\w+)(!snake)?\}")
PHRASE_SLOT: Final = re.compile(r"\{(\w+(?:,\w+)?)(?::(\w+)|=([\w./-]+))?\}")
"""An argument in a phrase: its names, the kind of its value, the words that it may be."""
OPTIONAL_PART: Final = re.compile(r"\[([^][]*)\]")
POINTER: Final = re.compile(r"[a-z][a-z0-9+.-]{0,31}://[^\s,;|]{1,2000}")
"""The address of data, such as "dir://users/j.smith/mail"."""
CALLER_ARGUMENTS: Final = ("return_agent", "priority")
"""The arguments of every step."""
RESERVED_NAMES: Final = frozenset({*CALLER_ARGUMENTS, "task", "domain", "vocabulary"})
"""Names of the arguments of `encode_packet`, which no key of a private vocabulary may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStep:
    """One hop of a workflow; calling it returns its packet.

    Raises:
        ProtocolError: E1004, no packet could be made of these templates.
    """

    task: str
    """The TASK."""
    domain: str
    """The DOM."""
    return_agent: str
    """The agent that receives the result, unless the caller passes another."""
    priority: str = "2"
    """The priority, unless the caller passes another."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Key to template."""
    defaults: Mapping[str, encoding.Argument] = field(default_factory=dict)
    """Optional argument to its default; None leaves its field out."""
    pointers: tuple[str, ...] = ()
    """The arguments that must be the address of data, because the data itself must not be in a packet (section 15)."""
    phrases: tuple[str, ...] = ()
    """How people say the step: instructions in English in the notation of `accp_core.aacp.registry`."""
    vocabulary: Vocabulary = DRAFT_VOCABULARY
    """The words whose keys may be used besides the draft's."""
    guard: encoding.Guard | None = encoding.sensitive_values
    """Searches each packet for what must not be in it (section 15); None: nothing is searched."""
    parameters: tuple[str, ...] = field(init=False)
    """The names of its arguments, in their positional order."""

    def __post_init__(self) -> None:
        names = dict.fromkeys(match[1] for text in self.fields.values() for match in PLACEHOLDER.finditer(text))
        required = [name for name in names if name not in self.defaults]
        object.__setattr__(self, "parameters", (*required, *(name for name in self.defaults if name in names)))
        check_step(self)

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments without a default."""
        return tuple(name for name in self.parameters if name not in self.defaults)

    def __call__(
        self,
        *values: encoding.Argument,
        return_agent: str | None = None,
        priority: str | int | None = None,
        **named: encoding.Argument,
    ) -> Packet:
        """Return the packet of these arguments.

        Raises:
            TypeError: An argument is unknown, missing or passed twice.
            EncodeError: E1004, a packet cannot carry a value, the value of a typed field is none, or the guard
                has found something.
        """
        return self.encode(bind_arguments(self.parameters, values, named), return_agent=return_agent, priority=priority)

    def encode(
        self,
        given: Mapping[str, encoding.Argument],
        *,
        return_agent: str | None = None,
        priority: str | int | None = None,
    ) -> Packet:
        """Return the packet of these arguments by name; raises as a call."""
        packet = self.fill(given, return_agent=return_agent, priority=priority)
        encoding.check_values(packet, self.guard)
        return packet

    def fill(
        self,
        given: Mapping[str, encoding.Argument],
        *,
        return_agent: str | None = None,
        priority: str | int | None = None,
    ) -> Packet:
        """Return the packet of these arguments, whose values are not checked; raises as a call."""
        if not set(self.required) <= set(given) <= set(self.parameters):
            raise TypeError(f"expected {self.usage()}, found {', '.join(given) or 'nothing'}")
        arguments = {**self.defaults, **given}
        for name in self.pointers:
            check_pointer(name, arguments[name])
        return encoding.make_packet(
            self.task,
            self.domain,
            return_agent=self.return_agent if return_agent is None else return_agent,
            priority=self.priority if priority is None else priority,
            vocabulary=self.vocabulary,
            arguments={key: fill_template(text, arguments, self.required) for key, text in self.fields.items()},
        )

    def usage(self) -> str:
        """Return the names of the arguments, optional ones in brackets."""
        return " ".join([*self.required, *(f"[{name}]" for name in self.parameters if name in self.defaults)])


def bind_arguments(
    names: Sequence[str], values: Sequence[encoding.Argument], named: Mapping[str, encoding.Argument]
) -> dict[str, encoding.Argument]:
    """Return the arguments of a call by name.

    Raises:
        TypeError: There are too many values, or a name is unknown or comes twice.
    """
    if len(values) > len(names):
        raise TypeError(f"expected at most {len(names)} values ({', '.join(names)}), found {len(values)}")
    given = dict(zip(names, values, strict=False))
    for name, value in named.items():
        if name in given or name not in names:
            raise TypeError(f"expected each of {', '.join((*names, *CALLER_ARGUMENTS))} once, found {name!r}")
        given[name] = value
    return given


def fill_template(
    template: str, arguments: Mapping[str, encoding.Argument], required: Sequence[str]
) -> encoding.Argument:
    """Return the value of a field; None where an optional argument in its template has no value."""
    template = OPTIONAL_PART.sub(lambda part: "" if has_blank(part[1], arguments) else part[1], template)
    names = [match[1] for match in PLACEHOLDER.finditer(template)]
    for name in names:
        if encoding.is_blank(arguments[name]) and name in required:
            raise EncodeError(f"{name}: expected a value, found {arguments[name]!r}", code=ErrorCode.INVALID_TYPE)
    if has_blank(template, arguments):
        return None
    if template == f"{{{names[0] if names else ''}}}":
        return arguments[names[0]]
    texts = {name: encoding.write_scalar(name, arguments[name]) for name in names}
    for name, text in texts.items():
        if "=" in template and re.search("[,=]", text):
            reason = f"{name}: expected no ',' and '=' within the expression {template!r}, found {text!r}"
            raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    return PLACEHOLDER.sub(lambda match: to_snake(texts[match[1]]) if match[2] else texts[match[1]], template)


def has_blank(template: str, arguments: Mapping[str, encoding.Argument]) -> bool:
    """Return whether an argument in a template has no value."""
    return any(encoding.is_blank(arguments[match[1]]) for match in PLACEHOLDER.finditer(template))


# "PII, financial records, and credentials MUST NOT be embedded in AACP field values. Use authenticated data access
# layers referenced by pointer instead." (section 15)
def check_pointer(name: str, value: encoding.Argument) -> None:
    """Check that an argument is blank or the address of data (EncodeError E1004, without the value)."""
    if encoding.is_blank(value):
        return
    if not POINTER.fullmatch(encoding.write_scalar(name, value)):
        expected = "expected the address of the data, such as 'dir://users/j.smith/mail', not the data"
        raise EncodeError(f"{name}: {expected}", code=ErrorCode.INVALID_TYPE)


def to_snake(text: str) -> str:
    """Return `text` with "_" for "-" and blanks."""
    return re.sub(r"[- ]", "_", text)


def check_step(step: WorkflowStep) -> None:
    """Check that a step gives a packet and uses all of its arguments (ProtocolError E1004)."""
    for key, text in step.fields.items():
        if not encoding.is_key(key, step.vocabulary) or key in RESERVED_NAMES:
            raise invalid_table(f"expected a key of a packet that is not reserved, found {key!r}")
        if re.search(r"[][{}]", PLACEHOLDER.sub("", OPTIONAL_PART.sub(r"\1", text))):
            raise invalid_table(f"{key}: expected placeholders like {{name}} and parts like [text], found {text!r}")
    names = (*step.defaults, *step.pointers)
    if unknown := (set(names) - set(step.parameters)) | (set(step.parameters) & set(CALLER_ARGUMENTS)):
        raise invalid_table(f"expected arguments of a template, found {', '.join(sorted(unknown))}")
    if step.priority not in PRIORITIES:
        raise invalid_table(f"priority: expected one of {', '.join(PRIORITIES)}, found {step.priority!r}")
    check_phrases(step)
    # "1" is a valid text, number and word.
    step.fill({name: "ref://1" if name in step.pointers else "1" for name in step.required})


def check_phrases(step: WorkflowStep) -> None:
    """Check that each phrase has a place for every required argument and no unknown ones (ProtocolError E1004)."""
    for phrase in step.phrases:
        if any("{" in word and not PHRASE_SLOT.fullmatch(word.strip("()[]|")) for word in phrase.split()):
            raise invalid_table(f"phrase {phrase!r}: expected each placeholder to be a word")
        names = {name for match in PHRASE_SLOT.finditer(phrase) for name in match[1].split(",")}
        if not set(step.required) <= names <= set(step.parameters):
            raise invalid_table(f"phrase {phrase!r}: expected placeholders for {', '.join(step.required) or 'nothing'}")


def invalid_table(reason: str) -> ProtocolError:
    """Return the exception for a table that declares no workflow: E1004."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


class WorkflowRun:
    """All hops of a workflow, in order; calling it returns their packets."""

    def __init__(self, *hops: tuple[WorkflowStep, str], order: str = "") -> None:
        """Take each step with the names of the arguments that it receives, separated by blanks.

        Args:
            hops: The steps and their arguments.
            order: The names of the arguments of the run in their positional order; those not named come after these.

        Raises:
            ProtocolError: E1004, a required argument of a step is missing, or it has none of that name.
        """
        self.hops = tuple((step, tuple(names.split())) for step, names in hops)
        for step, names in self.hops:
            if not set(step.required) <= set(names) <= set(step.parameters):
                expected = step.usage() or "nothing"
                raise invalid_table(f"{step.task}: expected {expected}, found {', '.join(names) or 'nothing'}")
        received = dict.fromkeys(name for _, names in self.hops for name in names)
        if unknown := set(order.split()) - set(received):
            raise invalid_table(f"order: expected arguments of the hops, found {', '.join(sorted(unknown))}")
        self.parameters = tuple(dict.fromkeys((*order.split(), *received)))
        """The names of the arguments of the run, in their positional order."""

    def __call__(self, *values: encoding.Argument, **named: encoding.Argument) -> list[Packet]:
        """Return the packets of all hops.

        Raises:
            TypeError: No hop takes an argument, or one is missing.
            EncodeError: As the steps.
        """
        given = bind_arguments(self.parameters, values, named)
        return [step.encode({name: given[name] for name in names if name in given}) for step, names in self.hops]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A set of steps."""

    name: str
    """The name of the workflow."""
    steps: Mapping[str, WorkflowStep]
    """The steps by name."""
    run: WorkflowRun | None = None
    """All hops in order, where the table declares it."""


class WorkflowEncoder:
    """A workflow as a class: the attributes of a subclass are its steps and its run."""

    workflow: ClassVar[Workflow]
    """The same as data."""

    def __init_subclass__(cls, *, name: str) -> None:
        """Collect the steps and the run of a subclass."""
        steps = {key: value for key, value in vars(cls).items() if isinstance(value, WorkflowStep)}
        runs = [value for value in vars(cls).values() if isinstance(value, WorkflowRun)]
        cls.workflow = Workflow(name=name, steps=steps, run=runs[0] if runs else None)


def workflow_from_dict(data: Mapping[str, Any], *, vocabulary: Vocabulary = DRAFT_VOCABULARY) -> Workflow:
    """Return the workflow that a parsed TOML or JSON document declares.

    Args:
        data: `name`, `steps` (name to task, domain, return, priority, fields, defaults, pointers, phrases) and
            optionally `run` (step to the list of its arguments), where the steps are the hops of one run,.
        vocabulary: The words whose keys may be used besides the draft's.

    Raises:
        ProtocolError: E1004, with the place of the error.
    """
    members = read_table(data, "workflow", {"name": str, "steps": Mapping}, {"run": Mapping})
    steps = {}
    for name, step in members["steps"].items():
        try:
            steps[name] = step_from_dict(step, vocabulary)
        except ProtocolError as error:
            raise invalid_table(f"steps.{name}: {error.reason}") from None
    if not steps or not members["name"]:
        raise invalid_table("expected a workflow with a name and steps")
    run = run_from_dict(members.get("run"), steps)
    return Workflow(name=members["name"], steps=steps, run=run)


def step_from_dict(data: object, vocabulary: Vocabulary) -> WorkflowStep:
    """Return the step that a table declares."""
    optional = {"priority": (str, int), "fields": Mapping, "defaults": Mapping, "pointers": list, "phrases": list}
    members = read_table(data, "step", {"task": str, "domain": str, "return": str}, optional)
    return WorkflowStep(
        task=members["task"],
        domain=members["domain"],
        return_agent=members["return"],
        priority=str(members.get("priority", "2")),
        fields={key: read_template(key, text) for key, text in members.get("fields", {}).items()},
        defaults={name: read_default(name, value) for name, value in members.get("defaults", {}).items()},
        pointers=tuple(read_template("pointers", name) for name in members.get("pointers", ())),
        phrases=tuple(read_template("phrases", phrase) for phrase in members.get("phrases", ())),
        vocabulary=vocabulary,
    )


def run_from_dict(data: Mapping[str, Any] | None, steps: Mapping[str, WorkflowStep]) -> WorkflowRun | None:
    """Return the run that a table declares, None without a table."""
    if data is None:
        return None
    hops = []
    for name, arguments in data.items():
        if name not in steps or not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
            raise invalid_table(f"run.{name}: expected a step and a list of its arguments, found {arguments!r}")
        hops.append((steps[name], " ".join(arguments)))
    return WorkflowRun(*hops)


def read_table(data: object, what: str, required: Mapping[str, Any], optional: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `data`, which must be a table with these members of these types and no others."""
    kinds = {**required, **optional}
    if not isinstance(data, Mapping) or not set(required) <= set(data) <= set(kinds):
        found = sorted(map(str, data)) if isinstance(data, Mapping) else data
        raise invalid_table(
            f"{what}: expected a table of {', '.join(required)} and optionally {', '.join(optional)}, found {found!r}"
        )
    for name, value in data.items():
        if not isinstance(value, kinds[name]) or isinstance(value, bool):
            raise invalid_table(f"{name}: expected another type, found {value!r}")
    return data


def read_template(key: str, value: object) -> str:
    """Return the template of a field, which may be declared as a list of constants."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return encoding.write_value(key, value)
    if not isinstance(value, str):
        raise invalid_table(f"{key}: expected text, found {value!r}")
    return value


def read_default(name: str, value: object) -> encoding.Argument:
    """Return the default of an argument; TOML has no null, so "" leaves the field out."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool) or not isinstance(item, (str, int, float, Decimal)) for item in items):
        raise invalid_table(f"defaults.{name}: expected text, a number or a list of them, found {value!r}")
    return cast("encoding.Argument", value)
