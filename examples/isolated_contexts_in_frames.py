"""An agent context in ACCP frames: delivered as a request, updated by its changes, answered with its results."""

from __future__ import annotations

from dataclasses import replace

from accp_adapters.tokens import o200k_base
from accp_core import Codec, serialize_frame
from accp_core.aci import AgentContext, ItemState, KeyInformation, accept_reply, isolate, todo
from accp_core.aci.contexts import TaskContext
from accp_core.bridges.aci_in_accp import (
    apply_update,
    completion_message,
    delivery_message,
    read_context,
    update_message,
)

count = o200k_base()
codec = Codec(counter=count)
sent = AgentContext(
    agent_id="hotels",
    subtask_id="s1",
    subtask_name="Book a hotel in Lisbon",
    context_uri=("$cold.c9523506b4bd",),
    todo_items=todo("Search near Baixa", "Hold the best"),
)
isolate(TaskContext(task_id="trip", user_query="Plan my trip to Lisbon"), sent)  # refuses what may not leave


def through(message):  # type: ignore[no-untyped-def]
    """Send a message as a frame, and return what the receiver decodes."""
    (frame,) = codec.encode(message).frames
    text = serialize_frame(frame)
    print(f"{count(text):3} tokens  {text}")
    return codec.decode(text)


got, version = read_context(through(delivery_message(sent, sender="master", correlation_id="c1")))
assert (got, version) == (sent, 1)

half = replace(
    sent, item_state_updates=(ItemState("1", 1),), key_information=(KeyInformation("1", "9 hotels under 160 EUR"),)
)
known = apply_update(sent, 1, through(update_message(sent, half, sender="hotels", correlation_id="c1", version=2)))
assert known == half
assert (
    apply_update(sent, 5, through(update_message(sent, half, sender="hotels", correlation_id="c1", version=2))) is None
)

answer, _ = read_context(through(completion_message(half, sent=sent, sender="hotels", correlation_id="c1")))
assert accept_reply(sent, answer) == half
