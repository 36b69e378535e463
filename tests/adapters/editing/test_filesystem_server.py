"""A client of the MCP filesystem server edits files by lines that it copies from results, through `accp mcp`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from tests.adapters.editing.files import FILES, NEW, OLD, SIZES, line_to_edit
from tests.adapters.mcp.real_servers.registries import Missing, from_npm

pytestmark = pytest.mark.slow


async def read(client: ClientSession, name: str, **arguments: str) -> str:
    """Return the texts that a model reads of a result."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("size", SIZES)
async def test_a_line_that_was_copied_from_a_result_is_found_in_the_file(
    tmp_path: Path, size: str, line_end: str
) -> None:
    try:
        program = from_npm("filesystem", ("@modelcontextprotocol/server-filesystem",), ".bin/mcp-server-filesystem")
    except Missing as missing:
        pytest.skip(f"the filesystem server is not here: {missing}")
    accp = ["mcp", "--fetch", "--quiet", "--"]
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("accp")), args=[*accp, str(program), str(tmp_path)]
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        for name, make in FILES.items():
            path, source = tmp_path / name, make(SIZES[size])
            path.write_bytes(source.replace("\n", line_end).encode())
            texts = [await read(client, "read_text_file", path=str(path))]
            old = line_to_edit(texts)
            if old is None:
                reference = re.search(r"\$cold\.[0-9]+", texts[0])
                assert reference, texts[0]
                texts.append(await read(client, "accp_fetch", ref=reference[0], query=OLD))
                old = line_to_edit(texts)
            edits = [{"oldText": old, "newText": str(old).replace(OLD, NEW)}]
            result = await client.call_tool("edit_file", {"path": str(path), "edits": edits})
            assert not result.is_error, (name, old, result)
            assert path.read_text() == source.replace(OLD, NEW)
