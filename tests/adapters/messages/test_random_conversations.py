"""Random conversations of each provider: valid, deterministic, never larger, and every reference opens."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from accp_adapters.messages import Projection, project_messages
from accp_core.references import find_references, reference_to
from tests.adapters.langgraph.transcripts import PROVIDERS
from tests.adapters.messages.conversations import conversation, digest, policy_of, projected
from tests.adapters.messages.test_projection import FIELD_OF, call_of
from tests.limits import LONG

SEEDS = range(1_000 if LONG else 12)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_random_conversation_stays_valid_and_whole(provider: str) -> None:
    fetched = 0
    for seed in SEEDS:
        messages = conversation(provider, seed)
        before = copy.deepcopy(messages)
        assert broken_rules(provider, messages) == []
        shown = projected(provider, seed)
        assert messages == before and len(shown.messages) == len(messages)
        assert broken_rules(provider, shown.messages) == []
        assert without_texts(shown.messages) == without_texts(messages)
        assert shown.tokens_after <= shown.tokens_before
        fetched += opened(provider, shown, before)
        cut = project_messages(messages[: seed % len(messages)], policy=policy_of(seed), layout=shown.layout)
        assert cut.messages == shown.messages[: seed % len(messages)]
    assert fetched > 0


@pytest.mark.slow
def test_another_process_with_another_hash_seed_comes_to_the_same_bytes() -> None:
    program = f"from tests.adapters.messages.conversations import digest; print(digest({SEEDS!r}))"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest(SEEDS)


def broken_rules(provider: str, messages: list[dict[str, Any]]) -> list[str]:
    # A conversation may end with the model's words: what is projected is also what was answered.
    return [line for rule in PROVIDERS[provider] for line in rule({FIELD_OF[provider]: messages})]


def without_texts(node: Any) -> Any:
    """Return messages without the texts that a projection may change."""
    match node:
        case dict():
            texts = {"text", "output", "content"}
            return {k: "" if k in texts and isinstance(v, str) else without_texts(v) for k, v in node.items()}
        case list():
            return [without_texts(each) for each in node]
    return node


def opened(provider: str, shown: Projection, before: list[dict[str, Any]]) -> int:
    """Return how many references the projection shows that are not in the conversation; each opens."""
    keys = set(find_references(json.dumps(shown.messages))) - set(find_references(json.dumps(before)))
    for key in keys:
        answer = json.dumps(shown.open(call_of(provider, "accp_fetch", {"ref": reference_to(key)})))
        assert "E5002" not in answer and shown.tools
    return len(keys)
