"""What holds of every context, every reply and every course of a task."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import Codec, Message, aci, serialize_frame
from accp_core.accp import FrameLimits
from accp_core.bridges.aci_in_accp import apply_update, delivery_message, read_context, update_message
from accp_core.errors import ProtocolError
from accp_core.references import is_reference
from tests.core.aci.plans import TASK, subtask
from tests.properties.strategies import joins

texts = st.text(max_size=12).filter(lambda text: not joins(text))
names = st.text(min_size=1, max_size=6)
item_ids = st.lists(names, min_size=1, max_size=4, unique=True)
inline = st.recursive(
    st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
).filter(lambda value: value not in (None, "") and not (isinstance(value, str) and is_reference(value)))
references = st.sampled_from(["accp://cold/a", "accp://cold/b", "https://example.com/x", "accp://warm/c.d"])


@st.composite
def contexts(draw: st.DrawFn) -> aci.AgentContext:
    """Draw a context of any fields."""
    items = draw(item_ids)
    return aci.AgentContext(
        agent_id=draw(names),
        agent_name=draw(texts),
        subtask_id=draw(names),
        subtask_name=draw(texts),
        dependencies=tuple(draw(st.lists(names, max_size=3, unique=True))),
        context=tuple(draw(st.lists(inline, max_size=3))),
        context_uri=tuple(draw(st.lists(references, max_size=3, unique=True))),
        todo_items=tuple(aci.TodoItem(item, draw(texts)) for item in items),
        item_state_updates=tuple(aci.ItemState(item, draw(st.integers(0, 1))) for item in items if draw(st.booleans())),
        key_information=tuple(aci.KeyInformation(item, draw(texts)) for item in items if draw(st.booleans())),
        last_updated=draw(st.none() | st.just("2026-03-20T02:51:00Z")),
    )


@given(contexts())
def test_json_and_fields_lose_nothing(context: aci.AgentContext) -> None:
    assert aci.AgentContext.from_json(json.loads(json.dumps(context.to_json()))) == context
    assert aci.fields_to_context(aci.context_to_fields(context)) == context


@given(contexts(), contexts())
def test_a_delta_makes_one_context_of_another(old: aci.AgentContext, new: aci.AgentContext) -> None:
    assert same(aci.patch_context(old, aci.diff_contexts(old, new)), new)


def same(one: aci.AgentContext, other: aci.AgentContext) -> bool:
    """Return whether two contexts say the same; the order of items is not what a delta keeps."""
    return aci.context_to_fields(one) == aci.context_to_fields(other)


@given(contexts(), contexts())
def test_frames_lose_nothing(old: aci.AgentContext, new: aci.AgentContext) -> None:
    codec = Codec(counter=len, limits=FrameLimits(body_hard=10**6, total_hard=10**6))
    assert read_context(through(codec, delivery_message(old, sender="m", correlation_id="c")))[0] == old
    said = through(codec, update_message(old, new, sender="m", correlation_id="c", version=2))
    made = apply_update(old, 1, said)
    assert made is not None
    assert same(made, new)


def through(codec: Codec, message: Message) -> Message:
    (frame,) = codec.encode(message).frames
    read = codec.decode(serialize_frame(frame))
    assert isinstance(read, Message)
    return read


@pytest.mark.requirement("aci:2.1-1")
@given(contexts(), contexts() | st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_a_reply_is_accepted_with_the_masters_plan_or_refused(sent: aci.AgentContext, returned: Any) -> None:
    try:
        accepted = aci.accept_reply(sent, returned)
    except ProtocolError:
        return
    for name in ("agent_id", "agent_name", "subtask_id", "subtask_name", "dependencies", "context", "context_uri"):
        assert getattr(accepted, name) == getattr(sent, name)
    assert accepted.todo_items == sent.todo_items


@given(contexts())
def test_every_item_is_either_unfinished_or_a_claim(context: aci.AgentContext) -> None:
    unfinished, claims = aci.evaluate(context)
    found = [item.item_id for item in unfinished] + [claim.item_id for claim in claims]
    assert sorted(found) == sorted(item.item_id for item in context.todo_items)
    assert all(context.states[claim.item_id] == 1 and claim.abstract for claim in claims)


@given(contexts(), st.text())
def test_any_answer_of_a_model_is_read(context: aci.AgentContext, text: str) -> None:
    answers = aci.read_answers(context, text)
    assert set(answers) <= {item.item_id for item in context.todo_items}
    assert aci.accept_reply(context, aci.with_answers(context, answers)).todo_items == context.todo_items
    assert aci.brief(context, counter=len)


@st.composite
def plans(draw: st.DrawFn) -> aci.Interaction:
    """Draw a task of up to six subtasks whose dependencies have no cycle."""
    count = draw(st.integers(1, 6))
    each = [
        subtask(
            f"s{n}",
            *draw(st.sets(st.sampled_from([f"s{m}" for m in range(n)]))) if n else (),
            items=draw(st.integers(1, 3)),
        )
        for n in range(count)
    ]
    return aci.Interaction.start(TASK, each, mode=draw(st.sampled_from(aci.Mode)), retries=draw(st.integers(0, 2)))


@given(plans(), st.data())
def test_every_course_ends_with_nothing_unfinished_passed_off(
    interaction: aci.Interaction, data: st.DataObject
) -> None:
    for _ in range(100):
        if interaction.finished:
            break
        interaction, deliveries = interaction.deliver()
        for each in data.draw(st.permutations(deliveries)):
            for dependency in each.context.dependencies:
                assert interaction.progress[dependency].state == "completed"
            if data.draw(st.integers(0, 5)) == 0:
                interaction = interaction.mark_lost(each.id, "lost")
            else:
                items = {item.item_id: data.draw(st.integers(0, 4)) > 0 for item in each.context.todo_items}
                interaction = interaction.receive(each.id, answer(each.context, items))
        interaction = interaction.verify(lambda *_: "no" if data.draw(st.integers(0, 4)) == 0 else None)
        assert aci.interaction_from_json(aci.interaction_to_json(interaction)) == interaction
    assert interaction.finished
    complete = all(sum(context.states.values()) == len(context.todo_items) for context in interaction.contexts.values())
    assert interaction.task.overall_status == (aci.Status.COMPLETED if complete else aci.Status.FAILED)


def answer(context: aci.AgentContext, items: dict[str, bool]) -> aci.AgentContext:
    return aci.AgentContext(
        agent_id=context.agent_id,
        subtask_id=context.subtask_id,
        item_state_updates=tuple(aci.ItemState(item, int(done)) for item, done in items.items()),
        key_information=tuple(aci.KeyInformation(item, "found") for item, done in items.items() if done),
    )
