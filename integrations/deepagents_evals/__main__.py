"""Run deepagents' evals, answer the prompts of a mailbox, and print what came out."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from accp_adapters.tokens import o200k_base
from integrations.agent_tasks.chat.mailbox import agent_model

_SHOWN: Final = 15_000
"""Characters of a message that `answer` prints; the rest is in a file, whose path it prints."""
_PRICE: Final = 3.0
_OUTPUT: Final = 5.0
"""Dollars for a million prompt tokens, and what an output token costs beside one. Read from the cache it costs 0.1,
written to it 1.25."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m integrations.deepagents_evals", description=__doc__)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="do the tasks of one arm, one after the other")
    run.add_argument("--evals", type=Path, required=True, help="the folder libs/evals of a checkout of deepagents")
    run.add_argument("--arm", required=True, help="plain, offload, interpreter or accp")
    run.add_argument("--model", required=True, help="provider:name of LangChain, or mailbox:FOLDER")
    run.add_argument("--out", type=Path, required=True, help="JSON Lines; tasks that are in it are not done again")
    run.add_argument("--each", type=int, default=5, help="tasks of each list (5)")
    run.add_argument("--list", action="append", dest="lists", help="only this list; may be repeated")
    run.set_defaults(do=_run)
    answer = commands.add_parser("answer", help="answer the open prompt, if given an answer, and print the next one")
    answer.add_argument("folder", type=Path)
    answer.add_argument("--text", help="words, which end the task; - reads them from standard input")
    answer.add_argument("--call", nargs=2, action="append", metavar=("TOOL", "JSON"), help="a call; may be repeated")
    answer.add_argument("--wait", type=float, default=90, help="seconds to wait for the next prompt (90)")
    answer.set_defaults(do=_answer)
    table = commands.add_parser("table", help="print the figures of run files")
    table.add_argument("files", type=Path, nargs="+")
    table.set_defaults(do=_table)
    options = parser.parse_args(arguments)
    options.do(options)


def _run(options: argparse.Namespace) -> None:
    from integrations.deepagents_evals.evals import ARMS, LISTS, load_tasks, run_task  # needs deepagents; others do not

    if options.arm not in ARMS:
        sys.exit(f"expected an arm of {', '.join(ARMS)}, found {options.arm!r}")
    kind, _, folder = options.model.partition(":")
    if kind == "mailbox":
        Path(folder, "done").unlink(missing_ok=True)
    model = agent_model(options.model, counter=o200k_base())
    done = {line["task"] for line in _lines([options.out] if options.out.exists() else [])}
    for task in load_tasks(options.evals, lists=tuple(options.lists or LISTS), each=options.each):
        if task.name not in done:
            line = run_task(task, model, options.arm)
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{task.name}: {'right' if line['right'] else line['reason']}", flush=True)
    if kind == "mailbox":
        Path(folder, "done").touch()
    _print_table([options.out])


def _answer(options: argparse.Namespace) -> None:
    if options.text is not None or options.call:
        prompt = _open_prompt(options.folder) or sys.exit("no prompt is open: nothing was answered")
        prompt.with_suffix("").with_suffix(".answer.txt").write_text(_written(options), encoding="utf-8")
    deadline = time.monotonic() + options.wait
    while (prompt := _open_prompt(options.folder)) is None:
        if (options.folder / "done").exists():
            sys.exit("all tasks are done")
        if time.monotonic() > deadline:
            sys.exit("no prompt is open yet: call this again")
        time.sleep(0.2)
    _show(prompt, options.folder / "shown.json")


def _open_prompt(folder: Path) -> Path | None:
    """Return the prompt that nobody has answered."""
    prompts = sorted(folder.glob("*.prompt.txt"), key=lambda each: each.stat().st_mtime)
    return next((each for each in prompts if not each.with_suffix("").with_suffix(".answer.txt").exists()), None)


def _written(options: argparse.Namespace) -> str:
    """Return an answer as the mailbox reads it."""
    words = sys.stdin.read() if options.text == "-" else options.text or ""
    if not options.call:
        return str(words)
    calls = [{"name": name, "arguments": _arguments(text)} for name, text in options.call]
    return json.dumps({"content": words, "tool_calls": calls})


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        sys.exit(f"nothing was answered: expected the arguments as JSON, found {text!r}: {error}")
    return value if isinstance(value, dict) else sys.exit(f"nothing was answered: expected an object, found {text!r}")


def _show(path: Path, memory: Path) -> None:
    """Print what its reader has not seen: new tools, and the messages since his last answer."""
    prompt = json.loads(path.read_text(encoding="utf-8"))
    before = json.loads(memory.read_text(encoding="utf-8")) if memory.exists() else {"tools": [], "messages": []}
    if before["messages"] == prompt["messages"]:  # asked again, perhaps by another reader: all of it
        before = {"tools": [], "messages": []}
    new_tools = [tool for tool in prompt["tools"] if tool not in before["tools"]]
    old = takewhile(lambda pair: pair[0] == pair[1], zip(before["messages"], prompt["messages"], strict=False))
    shared = sum(1 for _ in old)
    task = "the same task" if 0 < len(before["messages"]) == shared else "A NEW task"
    print(f"=== {task}; {len(prompt['tools'])} tools, {len(new_tools)} new to you")
    for tool in new_tools:
        print(json.dumps(tool["function"], ensure_ascii=False))
    new = [pair for pair in enumerate(prompt["messages"]) if pair[0] >= shared and pair[1]["role"] != "assistant"]
    for at, message in new:
        text = message["content"] if isinstance(message["content"], str) else json.dumps(message["content"] or "")
        print(f"=== message {at}, {message['role']}:\n{text[:_SHOWN] or '(nothing)'}")
        if len(text) > _SHOWN:
            rest = path.with_name(f"{path.name}.{at}.rest")
            rest.write_text(text, encoding="utf-8")
            print(f"… {len(text):,} characters in all; the model is sent them whole: {rest}")
    memory.write_text(json.dumps({**prompt, "tools": before["tools"] + new_tools}), encoding="utf-8")


def _table(options: argparse.Namespace) -> None:
    _print_table(options.files)


def _print_table(files: Iterable[Path]) -> None:
    lines = _lines(files)
    print("| arm | right | model calls | prompt tokens | cost, $ | seconds |\n|---|--:|--:|--:|--:|--:|")
    for arm in dict.fromkeys(line["arm"] for line in lines):
        of_arm = [line for line in lines if line["arm"] == arm]
        sums = {key: sum(line[key] for line in of_arm) for key in ("right", "calls", "tokens", "seconds")}
        cost = sum(map(_dollars, of_arm))
        right, calls, tokens, seconds = sums.values()
        print(f"| `{arm}` | {right} of {len(of_arm)} | {calls:,} | {tokens:,} | {cost:.2f} | {seconds:,.0f} |")


def _dollars(line: Mapping[str, Any]) -> float:
    return float(line["cost"] + _OUTPUT * line["output"]) * _PRICE / 1_000_000


def _lines(files: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
