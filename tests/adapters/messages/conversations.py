"""Random conversations in the JSON of each provider, and what each of them is projected to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

from accp_adapters.messages import Projection, project_messages
from accp_adapters.policy import Policy

__all__ = ["LAYOUT_OF", "POLICIES", "conversation", "digest", "policy_of", "projected"]

LAYOUT_OF: Final = {"openai": "openai-chat", "responses": "openai-responses", "anthropic": "anthropic"}
POLICIES: Final = (
    Policy(),
    Policy(inline_limit=150, preview_limit=100, batch_limit=250),
    Policy.lossless(),
    Policy(inline_limit=600, preview_limit=500),
)

ROWS: Final = [{"id": n, "name": f"Customer {n}", "city": ("Leeds", "Ghent")[n % 2], "sum": n * 7} for n in range(60)]
LOG: Final = "\n".join(f"2026-11-23T10:00:{n:02} worker {n % 4} took job {n * 31} of the queue" for n in range(50))
PNG: Final = "iVBORw0KGgo="
MARK: Final = {"cache_control": {"type": "ephemeral"}}


def _text(random: Random) -> str:
    first = random.randrange(40)
    rows = ROWS[first : first + random.randrange(1, 50)]
    return random.choice(
        [
            json.dumps(rows),
            json.dumps({"rows": rows, "next": None}, indent=2),
            "\n".join(LOG.splitlines()[first:]),
            LOG + "\n" + json.dumps(rows),
            "done",
            "E: no such table",
            f'[as above: 3 lines from "{first}"]',
            f"see accp_fetch $cold.{first:029d}",
            "日本語のテキスト。" * 20,
        ]
    )


def conversation(provider: str, seed: int) -> list[dict[str, Any]]:
    """Return a valid conversation: words, parallel calls and their results, images, thinking, errors, cache marks."""
    random = Random(seed)
    writer = {"openai": _Chat, "responses": _Responses, "anthropic": _Anthropic}[provider](random)
    messages = [*writer.user()]
    for number in range(random.randrange(1, 6)):
        calls = [f"call_{seed}_{number}_{index}" for index in range(random.choice([0, 1, 1, 2, 4]))]
        messages += [*writer.model(calls), *(writer.results(calls) if calls else writer.user())]
    return messages


def projected(provider: str, seed: int) -> Projection:
    """Return what a model of the provider is sent of one conversation."""
    return project_messages(conversation(provider, seed), policy=policy_of(seed), layout=LAYOUT_OF[provider])


def policy_of(seed: int) -> Policy:
    return POLICIES[seed % len(POLICIES)]


def digest(seeds: Iterable[int]) -> str:
    """Return the hash of the projections of conversations of each provider."""
    shown = [projected(provider, seed).messages for seed in seeds for provider in LAYOUT_OF]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random: Final = random

    def sometimes(self) -> bool:
        return self.random.random() < 0.3

    def arguments(self) -> dict[str, Any]:
        return {"query": f"customer {self.random.randrange(60)}", "limit": self.random.randrange(99)}

    def name(self) -> str:
        return self.random.choice(["search", "orders", "transfer_to_market"])


class _Chat(_Writer):
    def user(self) -> Iterator[dict[str, Any]]:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        text = _text(self.random)
        yield {"role": "user", "content": [image, {"type": "text", "text": text}] if self.sometimes() else text}

    def model(self, calls: list[str]) -> Iterator[dict[str, Any]]:
        made = [
            {
                "id": each,
                "type": "function",
                "function": {"name": self.name(), "arguments": json.dumps(self.arguments())},
            }
            for each in calls
        ]
        yield {"role": "assistant", "content": None, "tool_calls": made} if made else {
            "role": "assistant", "content": _text(self.random),
        }  # fmt: skip

    def results(self, calls: list[str]) -> Iterator[dict[str, Any]]:
        for each in calls:
            text = _text(self.random)
            parts = [{"type": "text", "text": text, **MARK}, {"type": "text", "text": _text(self.random)}]
            yield {"role": "tool", "tool_call_id": each, "content": parts if self.sometimes() else text}


class _Responses(_Writer):
    def user(self) -> Iterator[dict[str, Any]]:
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}
        text = {"type": "input_text", "text": _text(self.random)}
        yield {"type": "message", "role": "user", "content": [image, text] if self.sometimes() else text["text"]}

    def model(self, calls: list[str]) -> Iterator[dict[str, Any]]:
        if self.sometimes():
            yield {"type": "reasoning", "id": f"rs_{self.random.random()}", "summary": []}
        if not calls:
            yield {"role": "assistant", "content": [{"type": "output_text", "text": _text(self.random)}]}
        for each in calls:
            arguments = json.dumps(self.arguments())
            yield {"type": "function_call", "call_id": each, "name": self.name(), "arguments": arguments}

    def results(self, calls: list[str]) -> Iterator[dict[str, Any]]:
        for each in calls:
            text = _text(self.random)
            parts = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": "https://a.example/b"}]
            yield {"type": "function_call_output", "call_id": each, "output": parts if self.sometimes() else text}


class _Anthropic(_Writer):
    def user(self) -> Iterator[dict[str, Any]]:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        text = {"type": "text", "text": _text(self.random), **(MARK if self.sometimes() else {})}
        yield {"role": "user", "content": [image, text] if self.sometimes() else text["text"]}

    def model(self, calls: list[str]) -> Iterator[dict[str, Any]]:
        thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
        made = [{"type": "tool_use", "id": each, "name": self.name(), "input": self.arguments()} for each in calls]
        said = made or [{"type": "text", "text": _text(self.random)}]
        yield {"role": "assistant", "content": [thinking, *said] if self.sometimes() else said}

    def results(self, calls: list[str]) -> Iterator[dict[str, Any]]:
        blocks = []
        for each in calls:
            text = _text(self.random)
            parts = [{"type": "text", "text": text}, {"type": "text", "text": _text(self.random), **MARK}]
            block = {"type": "tool_result", "tool_use_id": each, "content": parts if self.sometimes() else text}
            blocks.append({**block, "is_error": True} if self.sometimes() else block)
        yield {"role": "user", "content": blocks}
