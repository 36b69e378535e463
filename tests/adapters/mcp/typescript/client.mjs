// A client of the TypeScript SDK: node client.mjs URL, or node client.mjs COMMAND ARGS…; it prints what it was given.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [command, ...args] = process.argv.slice(2);
const transport = command.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, env: process.env });
const client = new Client({ name: "typescript", version: "1" });
await client.connect(transport);

const { tools } = await client.listTools();
const orders = await client.callTool({ name: "orders", arguments: {} });
const seen = { tools: tools.map(({ name }) => name), text: orders.content[0].text, structured: orders.structuredContent };
const [ref] = seen.text.match(/\$cold\.[0-9]+/) ?? [];
if (ref) {
  const fetch = (of) => client.callTool({ name: "accp_fetch", arguments: { ref: of, query: "id = 377" } });
  seen.fetched = (await fetch(ref)).content[0].text;
  seen.refused = await fetch("$cold.000000000000");
}
const { resources } = await client.listResources();
const stored = resources.find((each) => each.uri.startsWith("accp://cold/"));
if (stored) seen.stored = (await client.readResource({ uri: stored.uri })).contents[0].text;
seen.resource = (await client.readResource({ uri: "notes://today" })).contents;

const abort = new AbortController();
const options = { signal: abort.signal, onprogress: () => abort.abort("no longer wanted") };
seen.aborted = await client.callTool({ name: "wait", arguments: {} }, undefined, options).catch((error) => `${error}`);
seen.cancelled = (await client.callTool({ name: "cancelled", arguments: {} })).content[0].text;
console.log(JSON.stringify(seen));
await client.close();
