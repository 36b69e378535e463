// A server of the TypeScript SDK: on standard streams, or at the port that it prints.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `Customer ${id}`, total: id + 0.5 }));
const inputSchema = { type: "object" };
const outputSchema = { type: "object", properties: { orders: { type: "array" } }, required: ["orders"] };
let noteCancelled;
const cancelled = new Promise((resolve) => (noteCancelled = resolve));

function wait({ signal, sendNotification, _meta }) {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => (noteCancelled("cancelled"), resolve({ content: [] })));
    const params = { progressToken: _meta?.progressToken, progress: 1 };
    sendNotification({ method: "notifications/progress", params });
  });
}

const server = new Server({ name: "orders", version: "1" }, { capabilities: { tools: {}, resources: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: "orders", description: "All orders.", inputSchema, outputSchema },
    { name: "wait", description: "Waits until it is cancelled.", inputSchema },
    { name: "cancelled", description: "Returns once a call was cancelled.", inputSchema },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  if (params.name === "wait") return wait(extra);
  if (params.name === "cancelled") return { content: [{ type: "text", text: await cancelled }] };
  const text = JSON.stringify({ orders: rows }, null, 2);
  return { content: [{ type: "text", text }], structuredContent: { orders: rows } };
});
const uri = "notes://today";
server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri, name: "today" }] }));
server.setRequestHandler(ReadResourceRequestSchema, () => ({ contents: [{ uri, text: "Nothing of note." }] }));

if (process.argv[2] === "http") {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  const http = createServer((request, response) => transport.handleRequest(request, response));
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
} else {
  await server.connect(new StdioServerTransport());
}
