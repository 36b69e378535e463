"""Table 3b: what `Policy.fixed_tokens` and `Policy.offer` do to the cost of recorded runs, and which runs lose.

"no names" is what agents without a name are sent, who take nobody's words for another agent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.policy import Policy
from accp_adapters.replay import AS_RECORDED, Run, Strategy
from accp_adapters.replay.cache_pricing import PromptCache, TokenIds
from accp_adapters.replay.prompts import PromptBuilder
from accp_adapters.replay.strategies import policy_strategy
from accp_adapters.tokens import count_remembered, encode_o200k
from tests.bench.data import recorded_runs

__all__ = ["main"]

_FURTHER: Final = (0, 1_000, 2_000, 4_000)
_FILLER: Final = "\n".join(
    f"Rule {number}: case {number * 7_919 % 10_007} is decided as such." for number in range(250)
)
"""About 3,500 tokens that stand before each prompt of the second table, as the tools of most agents do."""


@dataclass(frozen=True)
class _Cost:
    tokens: int
    cost: float


def main(data: Path | None, console: Console) -> None:
    """Print two tables, or that there is no data; each line takes a quarter of a minute."""
    if data is None:
        console.print("fixed_tokens: skipped, no data folder (set ACCP_DATA)")
        return
    runs, _ = recorded_runs(data)
    default = Policy().fixed_tokens
    numbers = sorted({default // 2, default, default * 3 // 2, *_FURTHER})
    policies = [("default", replace(Policy(), fixed_tokens=number)) for number in numbers]
    policies.append(("default", replace(Policy(), fixed_tokens=2_000, offer="always")))
    presets = [(name, Policy.named(name)) for name in ("lossless", "default", "tight")]
    policies += [pair for pair in presets if pair[0] != "default"]
    policies += [(f"{name}, no names", replace(policy, other_agents=False)) for name, policy in presets]
    console.print(_table("3b. fixed_tokens, the runs as recorded", runs, policies))
    before = [_after_filler(run) for run in runs]
    size = len(_encode(_FILLER))
    told = replace(Policy(), fixed_tokens=size)
    policies = [("default", each) for each in (Policy(), told, replace(told, offer="always"))]
    title = f"3b. the same with {size:,} tokens of instructions before each prompt"
    console.print(_table(title, before, policies))


def _after_filler(run: Run) -> Run:
    return replace(run, calls=tuple(replace(call, tools=f"{call.tools}\n{_FILLER}") for call in run.calls))


def _table(title: str, runs: Sequence[Run], policies: Sequence[tuple[str, Policy]]) -> object:
    recorded = [_cost_of(run, AS_RECORDED) for run in runs]
    columns = ("policy", "fixed_tokens, offer", "prompt %", "cost %", "dearer", "lose together %", "over 3 %", "most %")
    return plain_table(title, columns, [(name, *_line(policy, runs, recorded)) for name, policy in policies])


def _line(policy: Policy, runs: Sequence[Run], recorded: Sequence[_Cost]) -> tuple[str, ...]:
    strategy = policy_strategy("", replace(policy, counter=count_remembered))
    sent = [_cost_of(run, strategy) for run in runs]
    whole = sum(each.cost for each in recorded)
    rises = [after.cost / before.cost for before, after in zip(recorded, sent, strict=True) if after.cost > before.cost]
    lost = sum(max(after.cost - before.cost, 0.0) for before, after in zip(recorded, sent, strict=True))
    return (
        f"{policy.fixed_tokens:,}, {policy.offer}",
        percent(sum(each.tokens for each in sent), sum(each.tokens for each in recorded)),
        percent(sum(each.cost for each in sent), whole),
        f"{len(rises)}",
        f"{100 * lost / whole:.3f}",
        f"{sum(rise > 1.03 for rise in rises)}",
        f"{100 * (max(rises, default=1.0) - 1):.1f}",
    )


def _cost_of(run: Run, strategy: Strategy) -> _Cost:
    charges = list(_charges(run, strategy))
    return _Cost(tokens=sum(tokens for tokens, _ in charges), cost=sum(cost for _, cost in charges))


def _charges(run: Run, strategy: Strategy) -> Iterator[tuple[int, float]]:
    builder, cache = PromptBuilder(run, strategy), PromptCache()
    for call in run.calls:
        prompt = builder.build(call)
        texts = [*prompt.definitions, *(prompt.messages[position].text for position in call.prompt)]
        charge = cache.charge(call.agent, [_encode(text) for text in texts])
        yield charge.tokens, charge.cost


@lru_cache(maxsize=50_000)
def _encode(text: str) -> TokenIds:
    return encode_o200k(text)
