"""The types of the public names, for mypy to check; nobody runs this."""

from collections.abc import Callable
from typing import Any, assert_type

import tiktoken

from accp_adapters.instructions import AsyncFallbackEncoder
from accp_adapters.stores import RedisColdStore, SqliteColdStore, SqliteInstructionRegistry
from accp_adapters.tokens import by_name, hugging_face, o200k_base, o200k_base_encoding, tiktoken_encoding
from accp_core import (
    DecodeError,
    EncodeError,
    Envelope,
    Frame,
    Ref,
    View,
    parse_frame,
    preview,
    read,
    render,
    render_text,
    serialize_frame,
)
from accp_core.aacp import (
    FallbackEncoder,
    Finding,
    InstructionRegistry,
    InstructionStore,
    Packet,
    PayrollEncoder,
    Translation,
    ValidationReport,
    parse_packet,
    serialize_packet,
    validate,
)
from accp_core.aci import (
    AgentContext,
    Claim,
    Delivery,
    Evaluation,
    Interaction,
    OpenItem,
    TaskContext,
    accept_reply,
    evaluate,
    isolate,
    todo,
    verify,
)
from accp_core.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from accp_core.packing.tree import Column, EmbeddedJson, RepeatedValue, Repetition, Table
from accp_core.ports import AsyncInstructionEncoder, BoundedCounter, ColdStore, InstructionEncoder, TokenCounter
from accp_core.view import Options


def words(text: str) -> int:
    return len(text.split())


counter: TokenCounter = words
also: TokenCounter = len
bounded: TokenCounter = o200k_base()
as_function: Callable[[str], int] = o200k_base()

assert_type(o200k_base(), BoundedCounter)
assert_type(tiktoken_encoding("o200k_base"), TokenCounter)
assert_type(hugging_face("tokenizer.json"), TokenCounter)
assert_type(by_name("o200k_base"), TokenCounter)
assert_type(o200k_base_encoding(), tiktoken.Encoding)
assert_type(o200k_base()("text"), int)

cold: ColdStore = RedisColdStore("rediss://user:secret@cache:6379/0", ttl=60, ssl_ca_certs="/etc/ca.pem")
file: ColdStore = SqliteColdStore("cold.sqlite")
assert_type(RedisColdStore().get("session", "cold.1"), str | None)
assert_type(RedisColdStore().purge("session"), int)

assert_type(render({"a": 1}, counter=counter), str)
assert_type(render([1], counter=len, options=Options(repeated_values=False)), str)
assert_type(render(None, counter=counter, options=None), str)
assert_type(read("a 1"), object)
view = render_text("text", counter=counter)
assert_type(view, View)
assert_type(view.text, str)
assert_type(view.layout, str)
assert_type(view.tokens_before, int)
assert_type(view.tokens_after, int)
assert_type(view.restore(), str)
assert_type(preview("text", limit=100, opening="accp_fetch $cold.1", counter=counter, request="words"), str)
assert_type(Options().embedded_json, bool)

frame = parse_frame("@a>req:op{}")
assert_type(frame, Frame)
assert_type(parse_frame("@a>req:op{}", strict=True), Frame)
assert_type(serialize_frame(frame), str)
assert_type(serialize_frame(frame, ascii_only=True), str)
assert_type(frame.envelope, Envelope)
assert_type(frame.sender, str)
assert_type(Ref("warm.x"), Ref)

assert_type(RepeatedValue(1, "x").number, int)
assert_type(Repetition(1).number, int)
assert_type(EmbeddedJson([1], "2u").style, str)


def column(table: Table) -> None:
    assert_type(table.columns, dict[str, Column])
    assert_type(table.rows, int)


def refused(decode: DecodeError, encode: EncodeError, remote: RemoteProtocolError, local: LocalProtocolError) -> None:
    assert_type(decode.code, str)
    assert_type(decode.position, int)
    assert_type(decode.text, str)
    assert_type(encode.reason, str)
    assert_type(remote.reply, str | None)
    errors: list[ProtocolError] = [decode, encode, remote, local]
    values: list[ValueError] = [decode, encode]
    assert errors
    assert values


packet = parse_packet("FETCH|HR|return:A|aacp:1.1")
assert_type(packet, Packet)
assert_type(serialize_packet(packet), str)
assert_type(validate(packet), ValidationReport)
assert_type(validate("text").errors, tuple[Finding, ...])
assert_type(validate("text").packet, Packet | None)
assert_type(PayrollEncoder().fetch_employees("2024-08"), Packet)
assert_type(PayrollEncoder().full_run(period="2024-08"), list[Packet])
in_memory: InstructionStore = InstructionRegistry()
in_a_file: InstructionStore = SqliteInstructionRegistry("known.sqlite")
encoder = FallbackEncoder(in_memory)
port: InstructionEncoder = encoder
async_port: AsyncInstructionEncoder = AsyncFallbackEncoder(in_memory)
assert_type(encoder.encode("Fetch it", domain="HR", return_agent="A"), Translation)


def course(task: TaskContext, context: AgentContext) -> None:
    assert_type(isolate(task, context), dict[str, Any])
    assert_type(accept_reply(context, context.to_json()), AgentContext)
    assert_type(evaluate(context), tuple[tuple[OpenItem, ...], tuple[Claim, ...]])
    assert_type(verify(context, lambda subtask, item, abstract: None), Evaluation)
    assert_type(Interaction.start(task, [context]).deliver(), tuple[Interaction, tuple[Delivery, ...]])
    assert_type(todo("a")[0].item_id, str)
