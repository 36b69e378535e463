"""Rule, registry, model: who is asked, what is kept, what is refused."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core.aacp import (
    EncodingTier,
    FallbackEncoder,
    InstructionRegistry,
    RegistryEntry,
    Translation,
    Workflow,
    WorkflowStep,
    parse_packet,
)
from accp_core.aacp.fallback import read_instruction
from accp_core.errors import EncodeError
from accp_core.ports import InstructionEncoder

TEXT = "Fetch the absence records of E-17"
ANSWER = "FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:absence|filter:emp=E-17"


class Model:
    """Answers every instruction with one text, and counts."""

    def __init__(self, answer: str = ANSWER) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, str, str]] = []

    def __call__(self, instruction: str, /, *, domain: str, return_agent: str, priority: str = "2") -> str:
        self.asked.append((instruction, domain, return_agent, priority))
        return self.answer


def encode(encoder: FallbackEncoder, english: str = TEXT, **changes: Any) -> Translation:
    return encoder.encode(english, **{"domain": "HR", "return_agent": "HR-Agent", **changes})


def test_an_answer_that_leaves_something_out_makes_no_shape() -> None:
    model = Model("FETCH|HR|res:absence|filter:emp=E-17")
    encoder = FallbackEncoder(InstructionRegistry(), model)
    for _ in range(2):
        found = encode(encoder, "Fetch the absence records of E-17 but not the notes")
        assert [warning.code for warning in found.warnings] == ["omitted"]
    assert len(model.asked) == 1
    encode(encoder, "Fetch the absence records of E-18 but not the notes")
    assert len(model.asked) == 2


@pytest.mark.requirement("aacp:4.1-2", "aacp:6.3-3", "aacp:15-7")
@pytest.mark.parametrize(
    "answer",
    [
        "I cannot do that.",
        "",
        "FETCH|HR|res:x\nFETCH|HR|res:y",
        "FETCH|HR|res:x|res:y",
        "FETCH|FIN|res:x",
        "EXPLODE|HR|res:x",
        "FETCH|HR",
        "FETCH|HR|fmt:json",
        "SEND|HR|to:cfo",
        "SEND|HR|att:rpt://x",
        "FETCH|HR|res:",
        "FETCH|HR|res:x|filter:mail=j.smith@co.com",
        "FETCH|HR|res:x|filter:password=hunter22",
        '{"packet": "FETCH|HR|res:x"}',
    ],
)
def test_an_answer_that_is_no_packet_is_refused_and_not_kept(answer: str) -> None:
    registry, model = InstructionRegistry(), Model(answer)
    encoder = FallbackEncoder(registry, model)
    for _ in range(2):
        with pytest.raises(EncodeError, match=r"E4002: expected a packet .*from the model, found"):
            encode(encoder)
    assert len(registry) == 0
    assert len(model.asked) == 2


@pytest.mark.requirement("aacp:15-2")
@pytest.mark.parametrize("packet", ["garbage", "FETCH|FIN|return:A|p:1|aacp:1.1", "FETCH|HR|res:x|res:y"])
def test_an_entry_that_somebody_changed_is_not_served(packet: str) -> None:
    registry = InstructionRegistry()
    encode(FallbackEncoder(registry, Model()))
    (entry,) = registry.entries()
    broken = RegistryEntry(pattern=entry.pattern, key=entry.key, packet=packet, source="file")
    with pytest.raises(EncodeError, match=r"E4002: expected a packet .*from the registry \(file\), found"):
        encode(FallbackEncoder(InstructionRegistry([broken])))


@pytest.mark.parametrize(
    "packet", ["garbage", "FETCH|HR|return:A|p:1|aacp:1.1|res:{2}", "FETCH|HR|res:{0}", "FETCH|HR"]
)
def test_an_entry_that_is_of_no_use_is_forgotten_and_the_model_asked(packet: str) -> None:
    registry, model = InstructionRegistry(), Model()
    encode(FallbackEncoder(registry, model))
    (entry,) = registry.entries()
    broken = InstructionRegistry([replace(entry, packet=packet)])
    found = encode(FallbackEncoder(broken, model))
    assert (found.tier, str(found.packet), len(model.asked)) == (EncodingTier.MODEL, ANSWER, 2)
    assert broken.entries() == [entry]
    with pytest.raises(EncodeError, match=r"E4002: expected a packet of HR from the registry \(model\), found"):
        encode(FallbackEncoder(InstructionRegistry([replace(entry, packet=packet)])))


def test_what_is_known_is_found_without_a_model_and_what_is_kept_is_known() -> None:
    seen: list[Translation] = []
    registry = InstructionRegistry()
    encoder = FallbackEncoder(registry, observe=seen.append)
    instruction = read_instruction(TEXT, domain="HR", return_agent="HR-Agent")
    assert encoder.find(instruction) is None
    kept = encoder.keep(instruction, ANSWER)
    assert (kept.tier, str(kept.packet)) == (EncodingTier.MODEL, ANSWER)
    found = encoder.find(instruction)
    assert found is not None
    assert (found.tier, found.packet, found.times_seen) == (EncodingTier.EXACT, kept.packet, 2)
    rule = encoder.find(read_instruction("Give j.smith VPN access", domain="IT", return_agent="A"))
    assert rule is not None
    assert seen == [kept, found, rule]
    with pytest.raises(EncodeError, match="E4002: expected a packet of HR from the model, found 'no'"):
        encoder.keep(instruction, "no")
    registry.forget(registry.entries()[0].pattern)
    registry.add([RegistryEntry(pattern=instruction.pattern, key="", packet="garbage", source="file")])
    assert encoder.find(instruction) is None
    assert len(registry) == 0


def test_an_error_does_not_repeat_what_must_not_be_in_a_packet() -> None:
    with pytest.raises(EncodeError, match=r"E4002: .* one whose filter holds an e-mail address") as refusal:
        encode(FallbackEncoder(InstructionRegistry(), Model("FETCH|HR|res:x|filter:mail=j.smith@co.com")))
    assert "co.com" not in str(refusal.value)
    unguarded = FallbackEncoder(InstructionRegistry(), Model("FETCH|HR|res:x|filter:mail=j.smith@co.com"), guard=None)
    assert encode(unguarded).packet.fields["filter"] == "mail=j.smith@co.com"


def test_patterns_of_workflows_that_are_not_used_are_not_either() -> None:
    encoder = FallbackEncoder(InstructionRegistry(), workflows=[own("fetch {x}", fields={"res": "{x}"})])
    with pytest.raises(EncodeError, match="E4001"):
        encode(encoder, "Give j.smith VPN access", domain="IT")


@pytest.mark.requirement("aacp:15-9")
def test_english_is_kept_where_it_is_wanted_only() -> None:
    for keep, kept in ((False, ""), (True, TEXT)):
        registry = InstructionRegistry()
        encode(FallbackEncoder(registry, Model(), keep_english=keep))
        assert [entry.english for entry in registry.entries()] == [kept]


@pytest.mark.requirement("aacp:7-12")
def test_every_translation_is_observed() -> None:
    seen: list[Translation] = []
    encoder = FallbackEncoder(InstructionRegistry(), Model(), observe=seen.append)
    assert seen == []
    assert [encode(encoder), encode(encoder)] == seen


def test_an_encoder_stands_where_a_model_can() -> None:
    inner = FallbackEncoder(InstructionRegistry(), Model())
    port: InstructionEncoder = FallbackEncoder(InstructionRegistry(), inner)
    assert port(TEXT, domain="HR", return_agent="HR-Agent") == ANSWER


def own(*phrases: str, fields: dict[str, str] | None = None, name: str = "s") -> Workflow:
    step = WorkflowStep(task="FETCH", domain="FIN", return_agent="A", fields=fields or {"res": "x"}, phrases=phrases)
    return Workflow(name="own", steps={name: step})


def test_phrases_of_one_s_own_take_one_word_for_each_place() -> None:
    rates = own("fetch the rates of {pair} for {period}", fields={"filter": "pair={pair}", "period": "{period}"})
    encoder = FallbackEncoder(InstructionRegistry(), workflows=[rates])
    found = encode(encoder, "Please get rates of 'EURUSD' for 2024-08, thanks", domain="FIN")
    assert parse_packet(str(found.packet)).fields["filter"] == "pair=EURUSD"
    assert found.packet.fields["period"] == "2024-08"
    for other in (
        "fetch the rates of EURUSD for last month",
        "do not fetch the rates of EURUSD for 2024-08",
        "fetch the rates of EURUSD before 2024-08",
        "fetch the rates of ' for 2024-08",
    ):
        with pytest.raises(EncodeError, match="E4001"):
            encode(encoder, other, domain="FIN")


def test_a_word_that_no_packet_can_hold_is_refused() -> None:
    encoder = FallbackEncoder(InstructionRegistry(), workflows=[own("fetch {x}", fields={"res": "{x}"})])
    with pytest.raises(EncodeError, match="E1004"):
        encode(encoder, "fetch a|return:EVIL", domain="FIN")


def test_a_place_that_stands_twice_takes_one_word() -> None:
    encoder = FallbackEncoder(InstructionRegistry(), workflows=[own("compare {x} with {x}", fields={"res": "{x}"})])
    assert encode(encoder, "compare A1 with A1", domain="FIN").packet.fields["res"] == "A1"
    with pytest.raises(EncodeError, match="E4001"):
        encode(encoder, "compare A1 with A2", domain="FIN")


def entry(pattern: str, seen: int = 1) -> RegistryEntry:
    return RegistryEntry(pattern=pattern, key=pattern, packet=ANSWER, source="test", times_seen=seen)
