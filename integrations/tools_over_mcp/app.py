"""A LangGraph agent uses two published MCP servers, without and with `accp mcp` in front of them.

`python integrations/tools_over_mcp/app.py` needs Node (`npx`), which downloads the servers. `servers.json` says how
they are started; the run without the proxy skips everything before a server's own command. The model is a script that
knows only what it reads: its next calls and its answer follow from the texts of the results.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from string import Template
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import StructuredTool
from mcp import Client, StdioServerParameters, stdio_client
from script import Script

from accp_adapters.tokens import o200k_base

HERE = Path(__file__).resolve().parent
NO_SERVERS = 77
"""The exit code if the servers are not available, so that nothing was tested."""
START_SECONDS = 120


def server_parameters(settings: dict[str, Any], names: dict[str, str], *, proxied: bool) -> StdioServerParameters:
    """Return how to start a server from its entry in a client's configuration file."""
    words = [Template(word).safe_substitute(names) for word in (settings["command"], *settings["args"])]
    command, *args = words if proxied else words[words.index("--") + 1 :]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(command, path=path)
    if found is None or shutil.which("npx") is None:
        raise FileNotFoundError(f"no {command if found is None else 'npx'} here")
    env = {name: Template(value).safe_substitute(names) for name, value in settings.get("env", {}).items()}
    return StdioServerParameters(command=found, args=args, env={**os.environ, "PATH": path, **env})


async def tools_of(client: Client) -> list[StructuredTool]:
    """Return the tools of a server as LangChain tools; the structured content of a result is its artifact."""
    return [as_tool(client, tool) for tool in (await client.list_tools()).tools]


def as_tool(client: Client, tool: Any) -> StructuredTool:
    """Return one tool of a server as a LangChain tool."""

    async def call(**arguments: Any) -> tuple[str, Any]:
        result = await client.call_tool(tool.name, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise RuntimeError(text)
        return text, result.structured_content

    return StructuredTool(
        name=tool.name,
        description=tool.description or tool.name,
        args_schema=tool.input_schema,
        coroutine=call,
        response_format="content_and_artifact",
    )


async def run(folder: Path, graph: Path, *, proxied: bool) -> list[BaseMessage]:
    """Run the agent on its job; return its messages."""
    servers = json.loads((HERE / "servers.json").read_text(encoding="utf-8"))["mcpServers"]
    names = {"FOLDER": str(folder), "GRAPH": str(graph)}
    graph.unlink(missing_ok=True)
    async with AsyncExitStack() as stack:
        starts = [
            stack.enter_async_context(
                Client(stdio_client(server_parameters(each, names, proxied=proxied)), mode="legacy")
            )
            for each in servers.values()
        ]
        async with asyncio.timeout(START_SECONDS):
            clients = [await start for start in starts]
        tools = [tool for client in clients for tool in await tools_of(client)]
        agent = create_agent(Script(folder=str(folder)), tools)
        job = f"Which region earns most by the files in {folder}? Note it in the graph."
        messages: list[BaseMessage] = (await agent.ainvoke({"messages": [("user", job)]}))["messages"]
        return messages


def tokens(messages: Sequence[BaseMessage]) -> int:
    """Return the tokens that a model reads in `messages`."""
    count = o200k_base()
    return sum(count(str(message.text)) + count(json.dumps(getattr(message, "tool_calls", []))) for message in messages)


def prompts(messages: Sequence[BaseMessage]) -> int:
    """Return the tokens of all prompts together: every model call is sent all earlier messages."""
    return sum(tokens(messages[:at]) for at, message in enumerate(messages) if isinstance(message, AIMessage))


def report(plain: Sequence[BaseMessage], ours: Sequence[BaseMessage]) -> dict[str, Any]:
    """Return the tokens, answers and artifacts of both runs."""
    results = [
        {"tool": str(before.name), "plain": tokens([before]), "ours": tokens([after])}
        for before, after in zip(plain, ours, strict=True)
        if isinstance(before, ToolMessage)
    ]
    totals = [("all results", sum(each["plain"] for each in results), sum(each["ours"] for each in results))]
    totals.append(("all prompts", prompts(plain), prompts(ours)))
    return {
        "rows": results + [{"tool": name, "plain": before, "ours": after} for name, before, after in totals],
        "answers": [str(run[-1].text) for run in (plain, ours)],
        "artifacts": [[each.artifact for each in run if isinstance(each, ToolMessage)] for run in (plain, ours)],
    }


def show(found: dict[str, Any]) -> None:
    """Print the table of tokens, and the answer."""
    print(f"{'o200k_base tokens':<20}{'plain':>8}{'ours':>8}{'%':>7}")
    for row in found["rows"]:
        print(f"{row['tool']:<20}{row['plain']:>8,}{row['ours']:>8,}{100 * row['ours'] / row['plain']:>7.1f}")
    print(*dict.fromkeys(found["answers"]), sep="\n")


def main() -> int:
    """Do the job twice; exit code 0 if both answers are the same, 77 if the servers are not available."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=HERE / "data", help="the files that the agent reads")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        graph = Path(temporary, "graph.jsonl")
        try:
            plain, ours = (asyncio.run(run(given.folder.resolve(), graph, proxied=each)) for each in (False, True))
        except (OSError, TimeoutError) as error:
            print(f"the servers cannot be started: {error!r}", file=sys.stderr)
            return NO_SERVERS
    found = report(plain, ours)
    print(json.dumps(found)) if given.json else show(found)
    return 0 if len(set(found["answers"])) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
