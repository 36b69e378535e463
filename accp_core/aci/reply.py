"""The reply of an agent, the check of it, and its long results as references (ACI sections 2.1, 4.1 and 5.2).

A reply goes through these steps, each once, in every adapter:

    reply = AgentReply(context=...), or reply_from_words(sent, text) where the agent answered in words, or
            reply_from_value(sent, value) where it gave a structured response
    reply = with_report(sent, reply, words)                                   where `reply.unread` is not empty
    accepted = AcceptedReply.of(sent, reply)                                  checks it, by `accept_reply`
    context, texts = offload_long(accepted.context, accepted.full, ...)       long results become references
    put `texts` into the store, then `interaction.receive(delivery_id, replace(accepted, context=context, full={}))`
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from accp_core.aci import items as aci_items
from accp_core.aci import replies
from accp_core.aci.contexts import AgentContext
from accp_core.compression import abridge
from accp_core.error_codes import ErrorCode
from accp_core.packing.values import Removed, apply, diff
from accp_core.ports import TokenCounter
from accp_core.references import StoredText, reference_to_uri

__all__ = [
    "AcceptedReply", "AgentReply", "accept_reply", "context_to_fields", "diff_contexts", "failed_reply",
    "fields_to_context", "offload_long", "patch_context", "reply_from_value", "reply_from_words", "unread_reply",
    "with_report",
]  # fmt: skip


_IDENTITY = ("agent_id", "subtask_id")
_PLAN = ("subtask_name", "dependencies", "todo_items", "context")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """What an agent returned, unchecked."""

    context: AgentContext | Mapping[str, aci_items.Json]
    """Its own context, or the JSON of it."""
    full: Mapping[str, str] = field(default_factory=dict)
    """itemId to the whole result, where the abstract holds less; `offload_long` stores it."""
    stored: Collection[str] = ()
    """The references to what the agent itself stored; no others may be new in the context."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """itemId to what was not understood of its answer; a reporter may read it from the transcript (`with_report`)."""
    reported: Collection[str] = ()
    """The items whose answers a reporter gave: their work was done, so that it is not repeated for these words."""
    usage: aci_items.Usage = field(default_factory=aci_items.Usage)
    """What the work cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedReply(AgentReply):
    """A reply that passed `accept_reply`; only `AcceptedReply.of` makes one, so that each reply is checked once.

    To add references to its context, store their texts first, then use `dataclasses.replace`.
    """

    context: AgentContext
    """What was sent, with the states, abstracts and new references of the reply."""

    @classmethod
    def of(
        cls, sent: AgentContext, returned: AgentReply | AgentContext | aci_items.Json, *, stored: Collection[str] = ()
    ) -> AcceptedReply:
        """Return the checked reply to `sent`; a reply that was accepted for `sent` before is not checked again.

        Args:
            sent: The context that was delivered.
            returned: A reply, a context, or the JSON of a context.
            stored: The references that the agent itself stored, where `returned` is not a reply that lists them.

        Raises:
            ProtocolError: As `accept_reply`.
        """
        if isinstance(returned, AcceptedReply) and returned._is_for(sent):
            return returned
        reply = returned if isinstance(returned, AgentReply) else AgentReply(context=returned, stored=stored)
        context = accept_reply(sent, reply.context, stored=reply.stored)
        new = tuple(uri for uri in context.context_uri if uri not in sent.context_uri)
        return cls(
            context=context,
            full=reply.full,
            stored=new,
            unread=dict(reply.unread),
            reported=tuple(reply.reported),
            usage=reply.usage,
        )

    def _is_for(self, sent: AgentContext) -> bool:
        """Return whether identity, plan and granted references are those of `sent`."""
        same = all(getattr(self.context, name) == getattr(sent, name) for name in (*_IDENTITY, *_PLAN))
        return same and set(sent.context_uri) <= set(self.context.context_uri)

    def to_json(self) -> dict[str, aci_items.Json]:
        """Return the JSON of a reply whose long results are stored: `{"context": {...}, "stored": [...]}` and more."""
        more = {"unread": dict(self.unread), "reported": list(self.reported), "usage": self.usage.to_json()}
        data = {"context": self.context.to_json(), "stored": list(self.stored)}
        return data | {name: value for name, value in more.items() if value}

    @classmethod
    def from_json(cls, data: aci_items.Json) -> AcceptedReply:
        """Return the reply that `to_json` wrote; only for the master's own state, never for the JSON of a peer.

        Raises:
            ProtocolError: E1004, it is something else; as `AgentContext.from_json`.
        """
        if not aci_items.is_map(data) or not {"context", "stored"} <= set(data):
            raise aci_items.violation(ErrorCode.INVALID_TYPE, "a reply as `AcceptedReply.to_json` writes it", data)
        return cls(
            context=AgentContext.from_json(data["context"]),
            stored=tuple(data["stored"]),
            unread=dict(data.get("unread", {})),
            reported=tuple(data.get("reported", ())),
            usage=aci_items.Usage.from_json(data.get("usage", {})),
        )


# "Upon completion, the corresponding agent returns exclusively its own updated AgentContext" (section 2.1)
def accept_reply(
    sent: AgentContext, returned: AgentContext | aci_items.Json, *, stored: Collection[str] = ()
) -> AgentContext:
    """Return `sent` with what the agent may change: states, abstracts, time, and references to what it stored.

    Identity and plan are always those of `sent`. A field that the reply leaves out stays as it was sent; an item
    without a state is not done.

    Args:
        sent: The context that was delivered.
        returned: What came back, a context or its JSON.
        stored: The references that the agent itself stored; no others may be new in the reply.

    Raises:
        ProtocolError: E1004 and E2003, it is no context (`AgentContext.from_json`); E5001, it names another agent,
            subtask or plan, or unknown items; E5002, it has new references that are not in `stored`.
    """
    reply = returned if isinstance(returned, AgentContext) else AgentContext.from_json(returned)
    for name in _IDENTITY:
        if getattr(reply, name) != getattr(sent, name):
            raise aci_items.violation(
                ErrorCode.POLICY_DENIED, f"{name} {getattr(sent, name)!r} in the reply", getattr(reply, name)
            )
    for name in _PLAN:
        if getattr(reply, name) not in (getattr(sent, name), "", ()):
            raise aci_items.violation(ErrorCode.POLICY_DENIED, f"{name} unchanged in the reply", getattr(reply, name))
    _check_items(sent, reply)
    return replace(
        sent,
        item_state_updates=reply.item_state_updates,
        key_information=reply.key_information,
        context_uri=(*sent.context_uri, *_new_references(sent, reply, stored)),
        last_updated=reply.last_updated or sent.last_updated,
        notes=reply.notes,
    )


def _check_items(sent: AgentContext, reply: AgentContext) -> None:
    known = {item.item_id for item in sent.todo_items}
    for item_id in (*reply.states, *reply.abstracts):
        if item_id not in known:
            raise aci_items.violation(ErrorCode.POLICY_DENIED, f"only items of subtask {sent.subtask_id!r}", item_id)


def _new_references(sent: AgentContext, reply: AgentContext, stored: Collection[str]) -> Iterable[str]:
    if reply.context_uri and not set(sent.context_uri) <= set(reply.context_uri):
        raise aci_items.violation(ErrorCode.POLICY_DENIED, "ContextURI with all that was sent", list(reply.context_uri))
    new = [uri for uri in reply.context_uri if uri not in sent.context_uri]
    known = set(map(reference_to_uri, stored))
    for uri in new:
        if uri not in known:
            raise aci_items.violation(ErrorCode.UNAUTHORIZED_REF, "references that the agent stored itself", uri)
    return new


def reply_from_words(context: AgentContext, text: str) -> AgentReply:
    """Return the reply of an agent that answered in words, as `brief` asks for it or in another layout.

    A result that is too long for an abstract is in `full`, its beginning in the context.
    """
    return _reply_of(context, replies.read_answers(context, text))


def reply_from_value(context: AgentContext, value: aci_items.Json) -> AgentReply:
    """Return the reply of an agent that gave a structured response: a JSON value, or an object with `model_dump`."""
    return _reply_of(context, replies.read_structured(context, value))


def _reply_of(context: AgentContext, answers: Mapping[str, replies.ItemAnswer]) -> AgentReply:
    unread = {item: problem for item, answer in answers.items() if (problem := _missing_words(answer))}
    return AgentReply(context=replies.with_answers(context, _short(answers)), full=_long(answers), unread=unread)


def _short(answers: Mapping[str, replies.ItemAnswer]) -> dict[str, replies.ItemAnswer]:
    return {item: replace(answer, text=answer.text[: aci_items.MAX_ABSTRACT_CHARS]) for item, answer in answers.items()}


def _long(answers: Mapping[str, replies.ItemAnswer]) -> dict[str, str]:
    return {item: answer.text for item, answer in answers.items() if len(answer.text) > aci_items.MAX_ABSTRACT_CHARS}


def _missing_words(answer: replies.ItemAnswer) -> str:
    """Return what is missing in an answer, "" where nothing is."""
    if answer.outcome is aci_items.Outcome.DONE and replies.says_nothing(answer.text):
        return replies.NO_EVIDENCE
    return answer.problem


def unread_reply(context: AgentContext, reason: str) -> AgentReply:
    """Return the reply of an agent that worked, but whose answer cannot be used, for `reason`."""
    why = reason[: aci_items.MAX_ABSTRACT_CHARS]
    items = [item.item_id for item in context.todo_items]
    unread = replace(context, key_information=tuple(aci_items.KeyInformation(item, why) for item in items))
    return AgentReply(context=unread, unread=dict.fromkeys(items, reason))


def failed_reply(context: AgentContext, reason: str) -> AgentReply:
    """Return the reply of an agent that did nothing of its items, for `reason`."""
    why = reason[: aci_items.MAX_ABSTRACT_CHARS]
    items = [item.item_id for item in context.todo_items]
    failed = replace(
        context,
        item_state_updates=tuple(aci_items.ItemState(item, aci_items.OPEN) for item in items),
        key_information=tuple(aci_items.KeyInformation(item, why) for item in items if why),
    )
    return AgentReply(context=failed)


def with_report(context: AgentContext, reply: AgentReply, words: str) -> AgentReply:
    """Return `reply` with the results that a reporter found for the items in `reply.unread`; the others stay unread.

    A reporter knows what the record shows, not what was done: what it does not find is no failure, which would be
    delivered again. Its words become part of the reason.

    Args:
        context: The context that the agent was sent.
        reply: The reply in which answers are missing, made by `reply_from_words` or `reply_from_value`.
        words: The reporter's answer to `report_request`.
    """
    asked = replies.report_context(context, reply.unread)
    said = replies.read_answers(asked, words)
    answers = {
        item: each for item, each in said.items() if each.outcome is aci_items.Outcome.DONE and not _missing_words(each)
    }
    read, short = replies.with_answers(context, _short(answers)), _short(said)
    known = AcceptedReply.of(context, reply).context
    merged = replace(
        known,
        item_state_updates=(*_others(known.item_state_updates, answers), *read.item_state_updates),
        key_information=(*_others(known.key_information, answers), *read.key_information),
    )
    full = {item: text for item, text in reply.full.items() if item not in answers}
    unread = {item: _with_words(problem, short[item]) for item, problem in reply.unread.items() if item not in answers}
    reported = (*reply.reported, *answers)
    return replace(reply, context=merged, full={**full, **_long(answers)}, unread=unread, reported=reported)


def _with_words(problem: str, said: replies.ItemAnswer) -> str:
    """Return what is missing in an answer, and why a reporter did not find it."""
    return (
        f"{problem}; the reporter: {said.text}" if said.outcome is aci_items.Outcome.FAILED and said.text else problem
    )


EntryT = TypeVar("EntryT", aci_items.ItemState, aci_items.KeyInformation)


def _others(entries: Iterable[EntryT], answers: Collection[str]) -> tuple[EntryT, ...]:
    return tuple(entry for entry in entries if entry.item_id not in answers)


# "store or offload full context data to external storage systems, while only structured task descriptions and
# references to the full context are exchanged" (section 4.1)
def offload_long(
    context: AgentContext, full: Mapping[str, str], *, limit: int, counter: TokenCounter, open_with: str = ""
) -> tuple[AgentContext, tuple[StoredText, ...]]:
    """Return a reply's context with a preview and a reference for each long result, and the texts to store first.

    Args:
        context: What the agent returned.
        full: itemId to the whole result, where the abstract holds less.
        limit: Tokens of an abstract, at least 60; an abstract has at most 2,000 characters, too.
        counter: Counts the tokens of the model.
        open_with: The name of the tool that opens a reference, such as "accp_fetch"; empty: no tool is named.

    Raises:
        ValueError: `limit` has no room for the reference.
    """
    stored: dict[str, StoredText] = {}
    entries = []
    for entry in context.key_information:
        text = full.get(entry.item_id, entry.output_abstract)
        short = abridge(text, limit=limit, max_chars=aci_items.MAX_ABSTRACT_CHARS, counter=counter, open_with=open_with)
        if short.stored is not None:
            stored[short.stored.key] = short.stored
            entry = replace(entry, output_abstract=short.text)
        entries.append(entry)
    uris = (*context.context_uri, *(text.uri for text in stored.values()))
    return replace(context, key_information=tuple(entries), context_uri=uris), tuple(stored.values())


# A context as one flat map, in which a change of one item changes one key (ACI 5.2; the deltas of ACCP 5.4).

_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agent_id": "agent",
        "agent_name": "agent_name",
        "subtask_id": "subtask",
        "subtask_name": "name",
        "last_updated": "updated",
    }
)
_LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {"dependencies": "deps", "context": "context", "context_uri": "refs"}
)
_TODO, _STATE, _INFO = "todo_", "state_", "info_"


def context_to_fields(context: AgentContext) -> dict[str, aci_items.Json]:
    """Return a context as a flat map, without empty fields.

    Its keys are `agent`, `agent_name`, `subtask`, `name`, `updated`, `deps`, `context` and `refs`, and for each item
    `todo_<id>` (description), `state_<id>` and `info_<id>` (abstract).
    """
    fields = {key: value for name, key in _TEXTS.items() if (value := getattr(context, name))}
    fields |= {key: list(value) for name, key in _LISTS.items() if (value := getattr(context, name))}
    fields |= {f"{_TODO}{item.item_id}": item.description for item in context.todo_items}
    fields |= {f"{_STATE}{item}": state for item, state in context.states.items()}
    return fields | {f"{_INFO}{item}": abstract for item, abstract in context.abstracts.items()}


def fields_to_context(fields: aci_items.Json) -> AgentContext:
    """Return the context of such a map; unknown keys are ignored.

    Raises:
        ProtocolError: E1004, it is no such map, or a field has another type; E2003, a field is too long.
    """
    if not aci_items.is_map(fields):
        raise aci_items.violation(ErrorCode.INVALID_TYPE, "the fields of an AgentContext", fields)
    for key in ("agent", "subtask"):
        if key not in fields:
            raise aci_items.violation(ErrorCode.INVALID_TYPE, f"an AgentContext with {key!r}", list(fields))
    attributes: dict[str, Any] = {name: fields[key] for name, key in _TEXTS.items() if key in fields}
    attributes |= {name: _entries(key, fields[key]) for name, key in _LISTS.items() if key in fields}
    return AgentContext(
        **attributes,
        todo_items=tuple(aci_items.TodoItem(item, value) for item, value in _items(fields, _TODO)),
        item_state_updates=tuple(aci_items.ItemState(item, value) for item, value in _items(fields, _STATE)),
        key_information=tuple(aci_items.KeyInformation(item, value) for item, value in _items(fields, _INFO)),
    )


def diff_contexts(old: AgentContext, new: AgentContext) -> dict[str, aci_items.Json | Removed]:
    """Return the delta from `old` to `new`, for a receiver that has `old`; `patch_context` applies it."""
    return diff(context_to_fields(old), context_to_fields(new))


def patch_context(old: AgentContext, delta: Mapping[str, aci_items.Json | Removed]) -> AgentContext:
    """Return `old` with `delta` applied, which `diff_contexts` made.

    Raises:
        ProtocolError: As `fields_to_context`.
    """
    return fields_to_context(apply(context_to_fields(old), delta))


def _items(fields: Mapping[str, aci_items.Json], prefix: str) -> list[tuple[str, aci_items.Json]]:
    return [(key.removeprefix(prefix), value) for key, value in fields.items() if key.startswith(prefix)]


def _entries(key: str, value: aci_items.Json) -> tuple[aci_items.Json, ...]:
    if not isinstance(value, (list, tuple)):
        raise aci_items.violation(ErrorCode.INVALID_TYPE, f"{key} to be an array", value)
    return tuple(value)
