"""The asynchronous twin: the same answers, one call of the model for all who wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

import accp_adapters.instructions as package
from accp_adapters.instructions import AsyncFallbackEncoder, AsyncModelInstructionEncoder
from accp_adapters.stores import SqliteInstructionRegistry
from accp_core.aacp import EncodingTier, InstructionRegistry, InstructionStore, Translation
from accp_core.errors import EncodeError
from accp_core.ports import AsyncInstructionEncoder
from tests.scripted_model import ScriptedModel

TEXT = "Fetch the absence records of E-{}"
ANSWER = "FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:absence|filter:emp=E-{}"
OPTIONS = {"domain": "HR", "return_agent": "HR-Agent"}


class Model:
    """Answers when the test allows it, and counts."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()

    async def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        self.asked += 1
        await self.may_answer.wait()
        return ANSWER.format(instruction.rpartition("-")[2])


@contextmanager
def in_memory(folder: Path) -> Iterator[InstructionStore]:
    yield InstructionRegistry()


@contextmanager
def in_a_file(folder: Path) -> Iterator[InstructionStore]:
    with closing(SqliteInstructionRegistry(folder / "known.sqlite")) as registry:
        yield registry


stores = pytest.mark.parametrize("store", [in_memory, in_a_file])


@pytest.mark.requirement("aacp:6.3-4")
@stores
async def test_forty_callers_of_one_shape_ask_the_model_once(store: Callable[..., object], tmp_path: Path) -> None:
    with store(tmp_path) as registry:  # type: ignore[attr-defined]  # a context manager
        model = Model()
        encoder = AsyncFallbackEncoder(registry, model)
        callers = [asyncio.ensure_future(encoder.encode(TEXT.format(n), **OPTIONS)) for n in range(40)]
        while not model.asked:
            await asyncio.sleep(0)
        model.may_answer.set()
        found = await asyncio.gather(*callers)
        assert model.asked == 1
        assert [str(each.packet) for each in found] == [ANSWER.format(n) for n in range(40)]
        assert sorted(each.tier for each in found) == [EncodingTier.MODEL, *[EncodingTier.PATTERN] * 39]
        assert encoder._flights == {} == dict(encoder._waiting)


async def test_who_is_cancelled_leaves_the_model_to_the_next() -> None:
    model = Model()
    encoder = AsyncFallbackEncoder(InstructionRegistry(), model)
    first = asyncio.ensure_future(encoder(TEXT.format(1), **OPTIONS))
    second = asyncio.ensure_future(encoder(TEXT.format(1), **OPTIONS))
    while not model.asked:
        await asyncio.sleep(0)
    first.cancel()
    model.may_answer.set()
    assert await second == ANSWER.format(1)
    assert (model.asked, first.cancelled()) == (2, True)


async def test_rules_need_no_model_and_what_is_new_without_one_is_refused() -> None:
    seen: list[Translation] = []
    encoder = AsyncFallbackEncoder(InstructionRegistry(), observe=seen.append)
    found = await encoder.encode("Give j.smith VPN access", domain="IT", return_agent="IT-Agent")
    assert (found.tier, seen) == (EncodingTier.RULE, [found])
    with pytest.raises(EncodeError, match="E4001: expected a rule, an entry or a model for 'Fetch the absence"):
        await encoder.encode(TEXT.format(1), **OPTIONS)


async def test_an_answer_of_no_use_is_refused_and_not_kept() -> None:
    registry = InstructionRegistry()

    async def answer(instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        return "FETCH|HR"

    for _ in range(2):
        with pytest.raises(EncodeError, match=r"E4002: .* FETCH needs one of res"):
            await AsyncFallbackEncoder(registry, answer).encode(TEXT.format(1), **OPTIONS)
    assert len(registry) == 0


@pytest.mark.requirement("aacp:6.2-1")
async def test_a_chat_model_is_awaited() -> None:
    model = ScriptedModel(script=[lambda messages: AIMessage(f"```\n{ANSWER.format(7)}\n```")])
    inner: AsyncInstructionEncoder = AsyncFallbackEncoder(InstructionRegistry(), AsyncModelInstructionEncoder(model))
    assert await AsyncFallbackEncoder(InstructionRegistry(), inner)(TEXT.format(7), **OPTIONS) == ANSWER.format(7)
    assert len(model.received) == 1


def test_the_package_exports_what_it_names_and_nothing_else() -> None:
    assert all(hasattr(package, name) for name in package.__all__)
    assert not hasattr(package, "SyncModelInstructionEncoder")
