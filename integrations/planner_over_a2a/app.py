"""A planner and two agents over A2A: one job without contexts and with them, and the prompt tokens of both.

python integrations/planner_over_a2a/app.py
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from master import PATIENCE, with_contexts, with_everything

HERE: Final = Path(__file__).resolve().parent
AGENTS: Final = ("support", "analyst")
Way = Callable[[Mapping[str, str], Path], Awaitable[str]]
WAYS: Final[Mapping[str, Way]] = {"plain": with_everything, "contexts": with_contexts}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """The job, done in one way."""

    answer: str
    prompts: list[dict[str, Any]]
    """Every model call of all three processes: `agent`, `tokens` and `prompt`."""

    def tokens(self) -> Counter[str]:
        """Return the prompt tokens of each agent."""
        counts: Counter[str] = Counter()
        for call in self.prompts:
            counts[call["agent"]] += call["tokens"]
        return counts


@asynccontextmanager
async def started(name: str, way: str, log: Path) -> AsyncIterator[str]:
    """Start an agent as a process and yield its URL."""
    command = [sys.executable, str(HERE / "agents.py"), name, "--way", way, "--log", str(log)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def run(way: str, log: Path) -> JobRun:
    """Start the agents, do the job, and stop them."""
    async with AsyncExitStack() as stack:
        urls = await asyncio.gather(*(stack.enter_async_context(started(name, way, log)) for name in AGENTS))
        answer = await WAYS[way](dict(zip(AGENTS, urls, strict=True)), log)
    prompts = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return JobRun(answer=answer, prompts=prompts)


def table(runs: Mapping[str, JobRun]) -> str:
    """Return the prompt tokens of each agent, in both ways, as a table."""
    plain, contexts = runs["plain"].tokens(), runs["contexts"].tokens()
    rows = [(name, plain[name], contexts[name]) for name in ("master", *AGENTS)]
    rows.append(("all", plain.total(), contexts.total()))
    lines = [f"{'prompt tokens':<14}{'everything':>12}{'contexts':>12}{'saved':>8}"]
    return "\n".join(lines + [f"{name:<14}{old:>12,}{new:>12,}{1 - new / old:>8.0%}" for name, old, new in rows])


async def main() -> dict[str, JobRun]:
    """Do the job in both ways and print the answers and the tokens."""
    with tempfile.TemporaryDirectory() as folder:
        runs = {way: await run(way, Path(folder) / f"{way}.jsonl") for way in WAYS}
    for way, done in runs.items():
        print(f"{way}: {done.answer}  ({len(done.prompts)} model calls)")
    print(table(runs))
    return runs


if __name__ == "__main__":
    asyncio.run(main())
